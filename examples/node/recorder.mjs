// Records what a lock told its clients, for `lockbench check FILE`. docs/history-format.md has
// the format. It needs no packages.
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

/** Writes a history to a file. Calls never wait for the disk. When more than `limit` lines wait,
 * or the disk fails, recording is over, and the file says that it is partial. */
export class Recorder {
  #base = process.hrtime.bigint();
  #lines = []; #calls = new Set(); #free = []; #unsure = new Set();
  #clients = 0; #holds = 0; #over = ""; #writing = Promise.resolve();

  static async create(path, { design, sample = 1, others = true, limit = 100_000, every = 100 }) {
    const r = new Recorder();
    Object.assign(r, { sample, limit, file: await open(path, "w") });
    await r.#write([{ schema: "lockbench/history/v2", design, others, sample }, { epoch_ns: 0 }]);
    r.timer = setInterval(() => r.#flush(), every).unref();
    return r;
  }

  /** Acquires `key`, has `work` done with what was granted, and releases it. `acquire` returns
   * whether it was granted. `lost(error)` says of an error that the lock is not held any more; any
   * other leaves it unknown. `lease` and `wait` are in ms: a lease of 0 is a lock without one,
   * without `lease` it is not known. `work` is given a hold, or null where the key was refused. */
  async holding(key, { acquire, release, lease, wait = 0, lost = () => false }, work) {
    const recorded = this.#sampled(key);
    const about = { ...named(key), client: 0, hold: ++this.#holds };
    if (recorded) about.client = this.#free.pop() ?? ++this.#clients;
    const ask = (line, act) => (recorded ? this.#ask({ ...line, ...about }, act, lost) : act());
    if (!(await ask({ op: "acquire", wait_ns: ns(wait), granted_ns: ns(lease) }, acquire))) return work(null);
    try {
      return await work({ extend: (act, lease) => ask({ op: "extend", granted_ns: ns(lease) }, act) });
    } finally {
      await ask({ op: "release" }, release);
    }
  }

  /** Ends the file. What happens afterwards is not recorded. */
  async close() {
    clearInterval(this.timer);
    await this.#flush();
    const end = this.#over ? { partial: true, why: this.#over } : { trailer: { end_ns: this.#now() } };
    const unanswered = [...this.#calls];
    this.#over ||= "it was closed";
    await this.#write([...unanswered, { end }]);
    await this.file.close();
  }

  async #ask(line, act, lost) {
    line.call_ns = this.#now();
    this.#calls.add(line);
    let outcome = "unknown";
    try {
      const answer = await act();
      if (line.op === "acquire") outcome = answer ? "ok" : "refused";
      else if (answer !== false) outcome = "ok";
      return answer;
    } catch (error) {
      if (lost(error)) outcome = "lost";
      throw error;
    } finally {
      Object.assign(line, { return_ns: this.#now(), outcome });
      if (outcome === "refused" || outcome === "lost") delete line.granted_ns;
      if (outcome === "ok" && line.wait_ns === 0) line.attempt_ns = line.call_ns;
      this.#calls.delete(line);
      if (this.#lines.length >= this.limit) this.#over ||= "the queue was full";
      if (!this.#over) this.#lines.push(line);
      if (outcome === "unknown") this.#unsure.add(line.hold);
      else if (outcome === "refused" || (line.op === "release" && !this.#unsure.has(line.hold))) {
        this.#free.push(line.client); // nothing more happens in its name
      }
      if (line.op !== "extend") this.#unsure.delete(line.hold);
    }
  }

  #flush() {
    const lines = this.#lines;
    this.#lines = [];
    let epoch = this.#now();
    for (const line of this.#calls) epoch = Math.min(epoch, line.call_ns);
    if (!this.#over) lines.push({ epoch_ns: epoch });
    return this.#write(lines);
  }

  #write(lines) {
    const text = lines.map((line) => JSON.stringify(line) + "\n").join("");
    this.#writing = this.#writing.then(() => this.file.writeFile(text)).catch((error) => { this.#over ||= String(error); });
    return this.#writing;
  }

  #now() { return Number(process.hrtime.bigint() - this.#base); }

  #sampled(key) {
    const first = createHash("sha256").update(key).digest().readBigUInt64BE();
    return Number(first) < this.sample * 2 ** 64;
  }
}

const ns = (ms) => (ms === undefined ? undefined : Math.round(ms * 1e6)); // JSON leaves undefined out

const named = (key) => (Buffer.isBuffer(key) || !key.isWellFormed() ? { key_base64: Buffer.from(key, "utf16le").toString("base64") } : { key });
