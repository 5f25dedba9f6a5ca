// A bad lock, as a control: SET NX PX takes the lock, and DEL frees it without a look at its value, so
// that an owner whose lease is over frees the lock of the next.
"use strict";

const { connect } = require("./ioredis.js");
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
    this.client = await connect(url);
  }

  async acquire(key, ttl) {
    return (await this.client.set(key, "locked", "PX", ttl, "NX")) === "OK" ? { key } : null;
  }

  async release(hold) {
    await this.client.del(hold.key);
  }
}

serve(Naive);
