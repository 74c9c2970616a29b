// Package stress has the parts of the command fakeapi stress: sets of faults, what the output of go
// test says, and a report that compares runs with different faults.
//
// A set is chosen so that a correct test suite survives it. Tests expect that their own requests
// succeed, and the server cannot distinguish the client of a test from that of a controller. So the
// sets have faults that client-go hides (errors with Retry-After, watches that end), that only
// informers see (expired history, a delayed watch cache), and of writes only those that controllers
// make: the status of custom resources, Events and Leases. A conflict that is not repeated is also
// found by the set stale, in which a cache is behind the objects.
//
// Sets that need retries also fail other requests, and with them tests whose own client does not
// repeat them.
package stress
