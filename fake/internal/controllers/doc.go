// Package controllers is what a control plane runs around an API server, as one
// small machine: the garbage collector, the end of namespaces, and, as there is no
// kubelet, the end of pods whose grace has run out.
//
// # The machine
//
// A Machine follows the store with a cursor over everything (follow.go). What an event
// says goes into a few indexes (graph.go, deadline.go); whom it concerns goes into a
// queue. Settle takes from the queue until nothing is left to do at this moment;
// Run does so whenever something is written that may mean anything to it, which few
// writes do, or a pod's time is over. Decisions are made on the store as it is then, and
// whoever is deleted for want of owners is deleted in the state that was looked at, or
// looked at again, so that a cursor that is behind does no harm. If history has left the machine behind, or the store was restored, it begins again
// with a look at everything.
//
// One thing happens after the other, in the order of the events and of the keys:
// the same writes give the same end, in the same order.
//
// # Where it stands by the real ones
//
// It decides as the controllers of kube-controller-manager do: garbage collector
// (collect.go), namespace controller (namespace.go) with the order of KEP-5080: pods
// before all else. It differs in time: it acts at once, where the real
// ones take a poll, a back-off or five seconds. And it finds every cycle of objects that
// wait for each other (cycle.go), where a real one can miss those that come about in one moment.
package controllers
