// A bad lock, as a control: SET NX PX takes the lock, and DEL frees it without a look at its value, so
// that an owner whose lease is over frees the lock of the next.
"use strict";

const { Redis } = require("ioredis");
const { Lock, serve, version } = require("./lockbench-adapter.js");

class Naive extends Lock {
  // A release says nothing of the lock.
  static hello = {
    name: "naive/ioredis",
    library: "ioredis",
    version: version("ioredis"),
    release_tells: false,
  };

  async open([url]) {
    // No command is sent again or waits for a connection.
    this.client = new Redis(url, {
      lazyConnect: true,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      connectTimeout: 2000,
      commandTimeout: 2000,
      socketTimeout: 2000,
      retryStrategy: () => 50,
    });
    this.client.on("error", (e) => console.error(e.message));
    await this.client.connect().catch(() => {}); // it tries again
  }

  async acquire(key, ttl) {
    return (await this.client.set(key, "locked", "PX", ttl, "NX")) === "OK" ? { key } : null;
  }

  async release(hold) {
    await this.client.del(hold.key);
  }
}

serve(Naive);
