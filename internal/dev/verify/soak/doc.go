// Package soak runs a hundred clients against a server and its replica while faults are injected,
// and verifies after each round that every object was linearizable, that watches kept their
// guarantees, that reads returned what was stored, that informers are equal to the store, and that
// the server holds and counts what it should.
package soak
