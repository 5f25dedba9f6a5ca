// Package hashreentrant has the reentrant lock of a document (docs/designs.md#d1):
// a hash that counts how often its owner took it. The variant plain leaves it at that, watchdog adds
// the document's renewal in the background, both with the document's faults;
// notify is our repair of it. Its files begin with notify_.
package hashreentrant
