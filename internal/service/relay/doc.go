// Package relay is the network between clients and a server. A [Relay] forwards the bytes of every
// connection in both directions, and treats them as a bad network does: it delays, throttles or
// discards them, and breaks connections. It knows no protocol.
package relay
