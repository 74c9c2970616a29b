// Package fuzz has fuzz tests of whole servers and of scenarios: requests, bodies, patches,
// queries, continue tokens, definitions, rights, fault rules and the control API. go test runs
// their seeds, and .ci/fuzz more. Those of single functions are beside them.
//
// They are not in the packages that they test, because the result of a package with fuzz tests
// depends on the directory of its corpus, so that go test repeats all of its tests in each
// checkout.
package fuzz
