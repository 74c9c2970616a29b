// Package e2e is a module of its own: it runs clients that people really use
// against the server of package fakeapi, and keeps what they drag in
// (controller-runtime, kubectl) out of the module graph of the library.
//
//	catalogue   controller-runtime in the cases of the scenarios' catalogue
//	cbor        client-go with its feature gates for CBOR
//	controller  a controller-runtime manager and client
//	election    client-go's leader election
//	kubectl     kubectl as a process, built from cmd/kubectl
//
// Run them in this folder with
//
//	go test -race ./...
//
// Nothing has to be installed and no port has to be free. The first run compiles
// kubectl, which takes a minute; a run with a warm build cache takes seconds.
package e2e
