// Tests of a lock in JavaScript by lockbench. Run them with Jest, or with Node.js alone, in the folder
// that has my-lock:
//
//   lockbench adapter new node my-lock && npm ci --prefix my-lock
//   npx jest my-lock.test.js
//   node --test my-lock.test.js
//
// run locks on the server of LOCKBENCH_SERVER, by default on a private redis-server.
"use strict";

const { spawnSync } = require("node:child_process");

const test = globalThis.test ?? require("node:test"); // Jest has a global one
const minutes = 60_000; // Jest gives a test five seconds by default

const adapter = `'${process.execPath}' my-lock/redlock.js sesamecare`;

/** lockbench runs lockbench, and throws its output unless it exits with 0. */
function lockbench(...args) {
  const done = spawnSync("lockbench", args, { encoding: "utf8", timeout: 5 * minutes });
  if (done.status !== 0) {
    throw new Error(`exit ${done.status ?? done.error}\n${done.stdout}${done.stderr}`);
  }
}

test("the adapter speaks the protocol", () => lockbench("adapter", "check", "--out", "json=-", "--", adapter), 5 * minutes);

test("the lock keeps its claims", () => {
  lockbench("run", "--adapter", adapter, "--clients", "4", "--stallers", "4", "--ttl", "500ms", "--duration", "5s", "--seed", "1");
}, 5 * minutes);
