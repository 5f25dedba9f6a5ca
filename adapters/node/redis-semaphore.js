// The Mutex of redis-semaphore with ioredis: SET NX PX of a random value; Lua scripts release and
// refresh it. With the argument 5.3 it is that of version 5.3.0.
"use strict";

const { connect } = require("./ioredis.js");
const { Lock, NotHeld, serve, version } = require("./lockbench-adapter.js");

const old = process.argv[2] === "5.3";
const library = old ? "redis-semaphore-5.3" : "redis-semaphore";
const { Mutex } = require(library);

/** once are the options for one attempt. */
const once = { acquireAttemptsLimit: 1, retryInterval: 0 };

class RedisSemaphore extends Lock {
  // A release says nothing of the lock.
  static hello = {
    name: old ? "redis-semaphore/mutex-5.3" : "redis-semaphore/mutex",
    library: "redis-semaphore",
    version: version(library),
    release_tells: false,
  };

  async open([url], prefix) {
    this.prefix = prefix;
    // The library puts "mutex:" before a key, so the client puts the prefix before that.
    this.client = await connect(url, { keyPrefix: prefix });
  }

  mutex(key, ttl, more) {
    return new Mutex(this.client, key.slice(this.prefix.length), { lockTimeout: ttl, refreshInterval: 0, ...more });
  }

  async acquire(key, ttl) {
    const mutex = this.mutex(key, ttl, once);
    return (await mutex.tryAcquire()) ? { key, mutex } : null;
  }

  async acquireWithin(key, ttl, wait) {
    const mutex = this.mutex(key, ttl, { acquireTimeout: wait });
    return (await mutex.tryAcquire()) ? { key, mutex } : null;
  }

  async release(hold) {
    await hold.mutex.release();
  }

  // extend takes the lock over by its identifier, which refreshes it with the new lease.
  async extend(hold, ttl) {
    const mutex = this.mutex(hold.key, ttl, { ...once, externallyAcquiredIdentifier: hold.mutex.identifier });
    if (!(await mutex.tryAcquire())) {
      throw new NotHeld("the mutex was not refreshed");
    }
    hold.mutex = mutex;
  }
}

serve(RedisSemaphore);
