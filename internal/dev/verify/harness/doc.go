// Package harness has the parts that the packages below internal/dev/verify share: the kinds of
// objects that they write, objects and watch events in a form that can be compared, HTTP clients of
// a server, a network that can be interrupted, and a counter of what a run has covered.
package harness
