// Package controllers runs the controllers that a test of an API server depends on: the garbage
// collector, the namespace controller, the status of ResourceQuotas and of
// ValidatingAdmissionPolicies, the protection of storage objects in use, the aggregation of
// ClusterRoles, and, in place of a kubelet, the deletion of pods whose grace period is over.
//
// # Operation
//
// Controllers reads the store through a cursor over all keys (events.go). Each event updates a few
// indexes (graph.go, deadline.go) and adds the keys of the affected objects to a queue.
// RunUntilIdle processes the queue until it is empty. Run does so after each write that is relevant
// to a controller, which few writes are, and when the grace period of a pod is over. A decision is
// made on the store as it is at that moment, and an object without owners is deleted with a
// precondition on the state that was examined. So a cursor that is behind does no harm. If history
// has dropped events that the cursor has not read, or the store was restored, the indexes are built
// again from all objects.
//
// Work is done one item at a time, in the order of events and keys, so that the same writes always
// have the same result in the same order.
//
// Work that fails, for instance because a webhook refuses it, is done again after 5 milliseconds
// and then after twice the time of the previous failure, up to 1000 seconds, as in the queues of
// kube-controller-manager.
//
// Each controller writes as the user that it has in a cluster (users.go), so that webhooks and
// policies review its writes.
//
// # Differences from kube-controller-manager
//
// The decisions are those of the garbage collector (collect.go) and the namespace controller
// (namespace.go), with the deletion order of KEP-5080: pods first. The rules of a ClusterRole are
// those of the clusterrole-aggregation controller (aggregation.go). The controllers act at once,
// where the real ones wait for a poll or a back-off. They find every cycle of objects that wait for
// each other (cycle.go), where the real collector can miss cycles that appear at one moment.
package controllers
