// The Node.js side of lockbench's adapter protocol, version 1.
//
// An adapter is a class with the methods of a lock, given to serve(), which answers lockbench's
// requests over standard input and output; docs/adapter-protocol.md describes them.
//
//   class MyLock extends Lock {
//     static hello = { name: "my-lock", library: "my-lib", version: version("my-lib") };
//     async open(servers, prefix) {}   // connects to the servers, which are URLs
//     async acquire(key, ttl, owner) {} // a hold of any type, or null if another owner has the lock
//     async release(hold) {}           // throws NotHeld if the lock was lost
//     async extend(hold, ttl) {}       // likewise; without it the lock cannot be extended
//     async acquireWithin(key, ttl, wait, owner) {} // waits for at most wait; without it lockbench waits
//   }
//   serve(MyLock);
//
// A process has one such object for all its owners, which call it at the same time. Times are whole
// milliseconds. Any error but NotHeld, Refused and NoEffect leaves the outcome unknown. What a library
// prints goes to standard error. LOCKBENCH_BREAK=grant, release or silent breaks the lock on purpose,
// for lockbench to catch it.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");

/** Refused says that another owner holds the lock. */
class Refused extends Error {}

/** NotHeld says that this owner does not hold the lock any more. */
class NotHeld extends Error {}

/** NoEffect says that the request certainly did nothing. */
class NoEffect extends Error {}

/**
 * Lock is the lock of a process. Subclasses may also have timeLeft(hold), releaseAfter(hold, ms),
 * fence(hold), which is the number of the grant, and granted(hold), which is the lease that an acquire
 * or an extend granted, if it differs from the requested one.
 */
class Lock {
  /** hello has the name and further fields of the hello, such as grain_ms: 1000. */
  static hello = { name: "" };

  /** open connects to the servers. prefix begins every key already. */
  async open(servers, prefix) {}

  async acquire(key, ttl, owner) {
    throw new NoEffect("not implemented");
  }

  async release(hold) {
    throw new NoEffect("not implemented");
  }
}

/** methods are those for the operations on a hold, and abilities those that a lock may lack. */
const methods = { release: "release", extend: "extend", ttl: "timeLeft", release_after: "releaseAfter" };
const abilities = { extend: "extend", ttl: "timeLeft", release_after: "releaseAfter", fence: "fence", wait: "acquireWithin" };
const errors = [[Refused, "refused"], [NotHeld, "not-held"], [NoEffect, "no-effect"]];

/** faked is the hold of a grant that LOCKBENCH_BREAK=grant made up. */
const faked = Symbol("faked");

/** remembered is how many holds stay known after their release, so that the lock sees a second one. */
const remembered = 4096;

class Server {
  constructor(kind, write) {
    this.kind = kind;
    this.write = write;
    this.lock = new kind();
    this.holds = new Map();
    this.released = [];
    this.last = 0;
    this.lastFence = "0";
    this.broken = process.env.LOCKBENCH_BREAK ?? "";
    this.began = 0n;
  }

  say(message) {
    this.write(JSON.stringify(message) + "\n");
  }

  async greet({ servers, prefix }) {
    if (servers.length > 0) {
      await this.lock.open(servers, prefix);
    }
    this.began = process.hrtime.bigint();
    const clock = process.platform === "linux" ? { clock: "monotonic", now_ns: Number(BigInt.asUintN(53, this.began)) } : {};
    const can = Object.keys(abilities).filter((ability) => this.has(abilities[ability]));
    this.say({ hello: 1, runtime: "Node.js " + process.versions.node, owners: 64, can, ...clock, ...this.kind.hello });
  }

  has(method) {
    return typeof this.lock[method] === "function";
  }

  /** elapsed returns the ns since the hello. */
  elapsed() {
    return Number(process.hrtime.bigint() - this.began);
  }

  async answer(request) {
    const id = request.id;
    const call_ns = this.elapsed();
    try {
      const ok = await this.do(request);
      this.say({ id, ok, call_ns, return_ns: this.elapsed() });
    } catch (e) {
      const return_ns = this.elapsed();
      const known = errors.find(([kind]) => e instanceof kind);
      const text = String(e?.message ?? e).slice(0, 1000);
      this.say({ id, error: known ? known[1] : "unknown", class: e?.constructor?.name ?? typeof e, text, call_ns, return_ns });
    }
  }

  async do(request) {
    switch (request.op) {
      case "noop":
        return {};
      case "acquire":
        return this.acquire(request);
      case "repeat":
        return this.repeat(request);
    }
    const method = methods[request.op];
    if (method === undefined || !this.has(method)) {
      throw new NoEffect("unknown op " + request.op);
    }
    const hold = this.holds.get(request.hold);
    if (hold === undefined) {
      throw new NotHeld("no such hold");
    }
    if (hold === faked) {
      return {};
    }
    switch (request.op) {
      case "extend":
        await this.lock.extend(hold, request.ttl_ms);
        return this.granted(hold);
      case "ttl":
        return { ttl_ms: Math.floor(await this.lock.timeLeft(hold)) };
    }
    await this.release(hold, request.after_ms);
    this.forget(request.hold);
    return {};
  }

  async repeat({ key, ttl_ms, owner, times }) {
    const began = process.hrtime.bigint();
    for (let i = 0; i < times; i++) {
      const hold = await this.lock.acquire(key, ttl_ms, owner);
      if (hold === null || hold === undefined) {
        throw new Refused("another owner has it");
      }
      await this.lock.release(hold);
    }
    return { took_ns: Number(process.hrtime.bigint() - began) };
  }

  async acquire({ key, ttl_ms, wait_ms, owner }) {
    let hold = await (wait_ms ? this.lock.acquireWithin(key, ttl_ms, wait_ms, owner) : this.lock.acquire(key, ttl_ms, owner));
    if (hold === null || hold === undefined) {
      if (this.broken !== "grant") {
        throw new Refused("another owner has it");
      }
      hold = faked;
    }
    const number = ++this.last;
    this.holds.set(number, hold);
    const got = { hold: number, ...this.granted(hold) };
    if (this.has("fence")) {
      if (hold !== faked) {
        this.lastFence = String(this.lock.fence(hold));
      }
      got.fence = this.lastFence;
    }
    return got;
  }

  granted(hold) {
    if (hold === faked || !this.has("granted")) {
      return {};
    }
    return { ttl_ms: Math.max(1, Math.floor(this.lock.granted(hold))) };
  }

  async release(hold, after) {
    if (this.broken === "release") {
      return;
    }
    try {
      await (after === undefined ? this.lock.release(hold) : this.lock.releaseAfter(hold, after));
    } catch (e) {
      if (this.broken !== "silent" || !(e instanceof NotHeld)) {
        throw e;
      }
    }
  }

  forget(number) {
    this.released.push(number);
    if (this.released.length > remembered) {
      this.holds.delete(this.released.shift());
    }
  }
}

/** serve serves a subclass of Lock until lockbench stops it. */
function serve(kind) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr); // what the lock prints is no answer
  process.stdout.on("error", () => process.exit(1)); // nobody reads the answers
  const server = new Server(kind, write);
  const lines = readline.createInterface({ input: process.stdin, terminal: false });
  lines.on("close", () => process.exit(0));
  lines.on("line", (line) => {
    const message = JSON.parse(line);
    if (message.stop) {
      process.exit(0);
    } else if (message.hello) {
      void server.greet(message); // an error ends the process
    } else if (message.op) {
      void server.answer(message);
    }
  });
}

/** version returns the version of an installed package. */
function version(name) {
  for (let dir = path.dirname(require.resolve(name)); dir !== path.dirname(dir); dir = path.dirname(dir)) {
    const file = path.join(dir, "package.json");
    const found = fs.existsSync(file) && JSON.parse(fs.readFileSync(file, "utf8")).version;
    if (found) {
      return found.replace(/^v/, "");
    }
  }
  throw new Error("no version of " + name);
}

module.exports = { Lock, NoEffect, NotHeld, Refused, serve, version };
