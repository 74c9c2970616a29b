// Package garbagecollection compares the garbage collector with a model of it, on random graphs of
// owners and dependents. The model applies simple rules until none changes anything.
package garbagecollection
