// redlock 5 with ioredis: Lua scripts take, extend and release a random value on most of the servers.
"use strict";

const { Redis } = require("ioredis");
const { default: Redlock, ExecutionError, ResourceLockedError } = require("redlock");
const { Lock, NotHeld, serve, version } = require("./lockbench-adapter.js");

// No command is sent again or waits for a connection.
const options = {
  lazyConnect: true,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 2000,
  commandTimeout: 2000,
  socketTimeout: 2000,
  retryStrategy: () => 50,
};

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
  static hello = { name: "redlock/beta", library: "redlock", version: version("redlock") };

  async open(servers) {
    const log = (e) => console.error(e.message);
    const clients = servers.map((url) => new Redis(url, options).on("error", log));
    await Promise.allSettled(clients.map((client) => client.connect()));
    this.redlock = new Redlock(clients, { retryCount: 0 });
  }

  async acquire(key, ttl) {
    const start = Date.now();
    try {
      return { lock: await this.redlock.acquire([key], ttl), start };
    } catch (e) {
      if (await taken(e)) {
        return null;
      }
      throw e;
    }
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
