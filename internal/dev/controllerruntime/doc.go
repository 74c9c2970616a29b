// Package controllerruntime runs the suites of sigs.k8s.io/controller-runtime that need an API
// server, unmodified, with the programs that "fakeapi envtest-assets" makes. It is a module of its
// own, with the modules that these suites need.
//
//	go test ./...                        all suites
//	go test ./... -run TestSuites/cache  one of them
package controllerruntime
