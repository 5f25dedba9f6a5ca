// Tasks that share a lock in memory, recorded: workers.mjs FILE [sound|broken [ROUNDS [SAMPLE]]].
// A broken lock lets in everybody whose try has an even number.
import { setImmediate as later } from "node:timers/promises";
import { Recorder } from "./recorder.mjs";

const [file, how = "sound", rounds = "300", sample = "1"] = process.argv.slice(2);
const holders = new Map();
let tries = 0;

class NotHeld extends Error {}

const lock = (key, owner) => ({
  lease: 30_000,
  acquire: async () => {
    await later();
    if (holders.has(key) && !(how === "broken" && ++tries % 2 === 0)) return false;
    holders.set(key, owner);
    return true;
  },
  release: async () => {
    await later();
    if (holders.get(key) !== owner) throw new NotHeld(key);
    holders.delete(key);
  },
  lost: (error) => error instanceof NotHeld,
});

const recorder = await Recorder.create(file, { design: "in-memory", others: false, sample: Number(sample) });

async function work() {
  for (let i = 0; i < Number(rounds); i++) {
    const key = `item:${i % 3}`;
    try {
      await recorder.holding(key, lock(key, Symbol()), () => later());
    } catch (error) {
      if (!(error instanceof NotHeld)) throw error;
    }
  }
}

await Promise.all([work(), work(), work(), work()]);
await recorder.close();
