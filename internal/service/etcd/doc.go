// Package etcd is etcd as a backend: a server of the user's, or a private one, which is started on
// loopback ports and in a folder of its own. It keeps guarded records. All that a run writes is under
// keys that begin with the prefix of the run. Requests go to etcd's gateway for JSON
// (https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway), so that no client library is needed.
package etcd
