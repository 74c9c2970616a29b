// Package aggregator serves aggregated APIs, as kube-aggregator does in a kube-apiserver: groups
// and versions whose APIService leads to a Service with another API server.
//
// # What follows from the store
//
// The APIServices are those of the store at the time of the request (apiservices.go), so that they
// are right after a restore and in a fork. One leads to another server if it has a spec.service and
// its name is that of its version and group. Others are local: they have no effect.
//
// # Requests
//
// Requests are forwarded over TLS (proxy.go), with the user in headers and the client certificate
// of a front proxy. They have been authenticated and authorized before, as all others.
//
// # Availability
//
// Run checks whether the servers can be reached, and writes the condition Available
// (availability.go, run.go), with the reasons and messages of the available controller of
// kube-aggregator: when an APIService, its Service or the EndpointSlices of that change, every 30
// seconds, and after a failed discovery check again after 5 milliseconds and then after twice the
// time of the previous check. Without an APIService that leads to another server, nothing is
// checked and no timer runs.
//
// # Discovery and OpenAPI
//
// The documents of the other servers are fetched when a client requests the merged ones
// (documents.go, discovery.go, openapi.go), and kept for a minute as long as the APIService is
// unchanged. kube-aggregator fetches them in the background.
package aggregator
