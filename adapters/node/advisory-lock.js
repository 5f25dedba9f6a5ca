// advisory-lock: an advisory lock of PostgreSQL, held by the session of a connection that each attempt
// opens. The lock has no lease: it ends with its session. The library does not look at the answer of an
// unlock, and an unlock ends the connection.
"use strict";

const { default: advisoryLock } = require("advisory-lock");
const { Lock, serve, version } = require("./lockbench-adapter.js");

const ends = "a session ends with its connection, while its owner works on";

class AdvisoryLock extends Lock {
  static hello = {
    name: "advisory-lock/try-lock",
    library: "advisory-lock",
    version: version("advisory-lock"),
    service: "postgres",
    leaseless: true,
    release_tells: false,
    claims: [`-exclusion@lost-reply: ${ends}`, `-effects@lost-reply: ${ends}`],
  };

  async open([url]) {
    const bounded = new URL(url); // else a lost answer is waited for without end
    bounded.searchParams.set("query_timeout", "2000");
    bounded.searchParams.set("connectionTimeoutMillis", "2000");
    this.create = advisoryLock(bounded.href);
  }

  async acquire(key) {
    return (await this.create(key).tryLock()) ?? null;
  }

  async release(unlock) {
    await unlock();
  }
}

serve(AdvisoryLock);
