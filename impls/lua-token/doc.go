// Package luatoken has locks with a script on the server for steps that must be atomic:
// lua-token/expire and token (stages 3 and 4 of one document) and lua-token/options and
// strategy (notes on two generations of one library); docs/designs.md has the documents.
// Any client that knows the token can release all but the first. Their documented faults
// are kept; each file names its own. Ours are fenced, which numbers the grants of
// strategy, and batched, which is strategy on another client.
package luatoken
