// Package hashreentrant has the reentrant lock of a document (docs/designs.md#d1): a hash that
// counts how often its owner took it. The variant plain is only that; watchdog adds the document's
// renewal in the background. Both have the document's faults. notify is our repaired version. Its
// files begin with notify_.
package hashreentrant
