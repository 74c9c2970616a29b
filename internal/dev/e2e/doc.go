// Package e2e is a separate Go module. It runs common Kubernetes clients against the server of
// package fakeapi. Their dependencies (controller-runtime, kubectl) are not in the module graph of
// the library.
//
//	catalogue   controller-runtime in the scenarios of the catalogue
//	cbor        client-go with its feature gates for CBOR
//	controller  a controller-runtime manager and client
//	election    client-go's leader election, and informers, as a service account whose binding is
//	            deleted and created
//	envtest     envtest, unmodified, with the programs of fakeapi envtest-assets
//	flags       the flags of kube-apiserver, compared with those of its libraries
//	kubectl     kubectl as a process, built from cmd/kubectl
//	operator    an operator with custom resources in the layout of kubebuilder: types,
//	            CRD, controller, webhooks, envtest, and RBAC manifests compared with its requests
//
// Run them in this directory with
//
//	go test -race ./...
//
// The tests TestPerturb search for bugs with package scenario/perturb. Their comments have what was
// found. FAKEAPI_PERTURB_BUDGET is the number of runs, 0 for all.
//
// The tests need no installed programs and no fixed port. The first run compiles kubectl, which
// takes a minute; a run with a warm build cache takes seconds.
//
// The tests of custom resources can also run against a real API server, to check the tests
// themselves. FAKEAPI_E2E_KUBECONFIG is the path of its kubeconfig. The tests leave namespaces
// behind.
//
//	FAKEAPI_E2E_KUBECONFIG=FILE go test ./operator
//	FAKEAPI_E2E_KUBECONFIG=FILE go test -run Custom ./kubectl
package e2e
