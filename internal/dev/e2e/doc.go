// Package e2e is a module of its own: it runs clients that people really use
// against the server of package fakeapi, and keeps what they drag in
// (controller-runtime, kubectl) out of the module graph of the library.
//
//	catalogue   controller-runtime in the cases of the scenarios' catalogue
//	cbor        client-go with its feature gates for CBOR
//	controller  a controller-runtime manager and client
//	election    client-go's leader election
//	kubectl     kubectl as a process, built from cmd/kubectl
//	operator    an operator with custom resources, as kubebuilder lays it out: its
//	            types, its definition, its controller, its conversion webhook, envtest
//
// Run them in this folder with
//
//	go test -race ./...
//
// Nothing has to be installed and no port has to be free. The first run compiles
// kubectl, which takes a minute; a run with a warm build cache takes seconds.
//
// The tests of custom resources can be seen to be right: they pass on a real API server
// too, whose kubeconfig FAKEAPI_E2E_KUBECONFIG names. It is left with namespaces.
//
//	FAKEAPI_E2E_KUBECONFIG=FILE go test ./operator
//	FAKEAPI_E2E_KUBECONFIG=FILE go test -run Custom ./kubectl
package e2e
