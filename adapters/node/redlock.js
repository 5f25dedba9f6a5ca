// redlock 5 with ioredis: Lua scripts take, extend and release a random value on most of the servers.
// With the argument sesamecare it is its fork by SesameCare, whose scripts select the database.
"use strict";

const { connect } = require("./ioredis.js");
const { Lock, NotHeld, serve, version } = require("./lockbench-adapter.js");

const fork = process.argv[2] === "sesamecare";
const library = fork ? "@sesamecare-oss/redlock" : "redlock";
const { default: Original, Redlock = Original, ExecutionError, ResourceLockedError } = require(library);

// taken reports whether the library says that most servers have another value, or none.
async function taken(error) {
  if (!(error instanceof ExecutionError)) {
    return false;
  }
  if (error.attempts.length === 0) {
    return true; // the lease is over by the clock of the library
  }
  const { votesAgainst, quorumSize } = await error.attempts.at(-1);
  return [...votesAgainst.values()].filter((e) => e instanceof ResourceLockedError).length >= quorumSize;
}

class RedlockLock extends Lock {
  static hello = { name: fork ? "redlock/sesamecare" : "redlock/beta", library, version: version(library) };

  async open(servers) {
    const clients = await Promise.all(servers.map((url) => connect(url)));
    this.redlock = new Redlock(clients, { retryCount: 0, ...(fork && { db: clients[0].options.db }) });
  }

  async acquire(key, ttl, owner, settings) {
    const start = Date.now();
    try {
      return { lock: await this.redlock.acquire([key], ttl, settings), start };
    } catch (e) {
      if (await taken(e)) {
        return null;
      }
      throw e;
    }
  }

  // acquireWithin tries again with the pause that the library has unless it is told another one.
  async acquireWithin(key, ttl, wait, owner) {
    const retryDelay = 200;
    return this.acquire(key, ttl, owner, { retryCount: Math.ceil(wait / retryDelay), retryDelay });
  }

  // granted is shorter than the requested lease by the drift that the library allows for.
  granted(hold) {
    return hold.lock.expiration - hold.start;
  }

  async release(hold) {
    await this.held(hold.lock.release());
  }

  async extend(hold, ttl) {
    const start = Date.now();
    hold.lock = await this.held(hold.lock.extend(ttl));
    hold.start = start;
  }

  async held(outcome) {
    try {
      return await outcome;
    } catch (e) {
      throw (await taken(e)) ? new NotHeld(e.message) : e;
    }
  }
}

serve(RedlockLock);
