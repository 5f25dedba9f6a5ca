// Package luatoken has the locks whose steps are made one by a script on the
// server: lua-token/expire and token (stages 3 and 4 of one document) and
// lua-token/options and strategy (notes on two generations of one library);
// docs/designs.md has the documents. All but
// the first are released by any client that knows the token. Their documented faults are
// kept; each file names its own. Ours are fenced, which numbers the grants of
// strategy, and batched, which is strategy on another client.
package luatoken
