// Clients of ioredis for the adapters: no command is sent again or waits for a connection.
"use strict";

const { Redis } = require("ioredis");

/** connect returns a client of the server at a URL, connected if the server can be reached. */
async function connect(url, more = {}) {
  const client = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 2000,
    commandTimeout: 2000,
    socketTimeout: 2000,
    retryStrategy: () => 50,
    ...more,
  });
  client.on("error", (e) => console.error(e.message));
  await client.connect().catch(() => {}); // it tries again
  return client;
}

module.exports = { connect };
