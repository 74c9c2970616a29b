// Package clients provides API clients in the roles of the scenario catalogue: clients based on
// client-go as its documentation recommends, and hand-written clients with common mistakes. The
// catalogue has the cases that each of them passes.
//
// # When to use it
//
// To see which mechanism of client-go handles which fault, and as a second client beside the one
// under test in a scenario.
//
// # First steps
//
//	for _, c := range clients.All() {
//		t.Run(c.Role+"/"+c.Name, func(t *testing.T) {
//			scenario.RunCatalogue(t, c.Role, c.Client, scenario.KnownFailures(c.Role, c.Name))
//		})
//	}
//
// The roles are documented in package scenario.
//
// # Errors
//
// A client returns the error that stopped it, which scenarios expect or report. Clients that run
// until their context is done return nil or its error.
//
// # Limits
//
//   - The clients are not a library. They do only what their roles require.
//   - Clients of other modules, such as controller-runtime, are in internal/dev/e2e.
//
// # To add a client
//
// Write it in its own file, add a line to [All], and run TestCatalogue of package scenario. It
// reports the cases whose Passes and Fails lack the name.
package clients
