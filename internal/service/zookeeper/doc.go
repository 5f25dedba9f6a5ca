// Package zookeeper is ZooKeeper as a backend: a server of the user's, or a private one, which is started
// on a loopback port and in a folder of its own. It keeps guarded records. All that a run writes is in
// nodes of the run, which are deleted afterwards.
package zookeeper
