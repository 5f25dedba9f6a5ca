// Package luatoken has the locks whose steps are made one by a script on the
// server: lua-token/expire and token (document D2, stages 3 and 4) and
// lua-token/options and strategy (D3, two generations of one library). All but
// the first are released by whoever knows the token. Their documented faults are
// kept; each file names its own. Ours are fenced, which numbers the grants of
// strategy, and batched, which is strategy on another client.
package luatoken
