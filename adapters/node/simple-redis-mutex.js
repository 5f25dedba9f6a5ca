// simple-redis-mutex with node-redis: SET NX PX of a random value and, as a second command, INCR for
// the fence. A Lua script releases the lock. The library's refresh does not say whether the lock was
// lost, so the adapter does not extend.
"use strict";

const { createClient } = require("redis");
const { tryLock } = require("simple-redis-mutex");
const { Lock, serve, version } = require("./lockbench-adapter.js");

class SimpleRedisMutex extends Lock {
  // A release says nothing of the lock.
  static hello = {
    name: "simple-redis-mutex/try-lock",
    library: "simple-redis-mutex",
    version: version("simple-redis-mutex"),
    release_tells: false,
  };

  async open([url]) {
    // A command is not sent again and does not wait for a connection. The pings keep an idle
    // connection from its time-out.
    this.client = createClient({
      url,
      disableOfflineQueue: true,
      pingInterval: 500,
      commandOptions: { timeout: 2000 },
      socket: { connectTimeout: 2000, socketTimeout: 2000, reconnectStrategy: () => 50 },
    });
    this.client.on("error", (e) => console.error(e.message));
    await this.client.connect();
  }

  async acquire(key, ttl) {
    const [acquired, release] = await tryLock(this.client, key, { timeout: ttl });
    return acquired ? release : null;
  }

  fence(release) {
    return release.fencingToken;
  }

  async release(release) {
    await release();
  }
}

serve(SimpleRedisMutex);
