// Package clients has the clients of the API that people use, in the roles of the
// scenarios' catalogue: client-go's, as its documentation has them, and what is
// written by hand where nobody knew better. The catalogue says of each of them
// which cases it survives.
//
// # When to use it
//
// To see which defence of client-go's helps against which fault, and where it does not; and to
// have a client beside the one under test in a scenario of one's own.
//
// # First steps
//
//	for _, c := range clients.All() {
//		t.Run(c.Role+"/"+c.Name, func(t *testing.T) {
//			scenario.RunCatalogue(t, c.Role, c.Client, scenario.KnownFailures(c.Role, c.Name))
//		})
//	}
//
// What the roles have to do is documented in package scenario.
//
// # Errors
//
// A client returns what stopped it, which scenarios expect or report. Those that run until their
// context ends return its error.
//
// # Limits
//
//   - No library: they do what their roles ask for, and nothing else.
//   - No other module: a client of controller-runtime is in internal/dev/e2e.
//
// # To add a client
//
// Write it in a file of its own, a line in [All], and run TestCatalogue: it tells
// the cases in whose lines Survives and Falls the name is missing.
package clients
