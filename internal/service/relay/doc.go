// Package relay is the network between clients and a server. A [Relay] forwards the bytes of every
// connection in both directions, and treats them as a bad network does: it delays, throttles or
// discards them, and breaks connections. With a [Handler] it reads the requests and replies of RESP, the
// protocol of Redis, and breaks a connection before a request or in place of a reply. On a connection
// that turns out to speak something else, such as TLS, it forwards bytes as on any other. An opaque relay
// ([ListenOpaque]) does the same for clients of other servers, without knowing where a request ends.
package relay
