// Package etcd is the process named etcd of a control plane: it keeps the objects in memory, and
// serves the APIs of the kube-apiserver processes that connect to it (package controlplane).
//
// At its client URLs it responds to the health paths, /version and /metrics of etcd. It does not
// speak etcd's own API: gRPC calls get UNIMPLEMENTED. Nothing is written to the data directory, so
// that a restarted etcd is empty. It ends at SIGTERM and SIGINT, and when its parent process ends.
package etcd
