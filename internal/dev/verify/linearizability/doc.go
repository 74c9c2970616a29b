// Package linearizability verifies that requests for an object are linearizable. Clients send
// random requests at the same time, and porcupine searches for an order of the requests that the
// Model of an API server allows.
package linearizability
