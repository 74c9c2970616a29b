// Package mutants breaks the server in known ways, to show that the conformance suite notices each of them. It is for tests: no room
// may import it, and nothing of it is in a server.
//
// A [Mutant] is a piece of the server's source and what stands in its place in a broken server. The tables are the files table_*.go,
// a group of rules or two in each. The text must stand exactly once in its file, inside the body of one function, so that a
// mutant that no longer means anything is noticed at once: "go test ./internal/mutants" looks at all of them, and is a part of every run.
//
// [Weave] puts all mutants into the source at once, for the overlay of one build: a function gets a copy for each of its mutants, and calls that
// one whose name is in the environment as FAKEAPI_MUTANT. So one binary is every broken server, and the whole one.
//
// # The mutation run
//
//	FAKEAPI_MUTANTS=all go test -run 'TestMutants$' -v -timeout 60m ./internal/mutants
//	FAKEAPI_MUTANTS='^WA-' go test -run 'TestMutants$' -v ./internal/mutants
//
// builds that binary, and for each mutant runs those cases of the suite that killed it the last time, or else those of the groups
// that it names, or else all. A case kills a mutant if it fails on it; on the whole server it has to pass. A mutant that no
// case kills fails the run: then a case is missing, or one is not sharp enough. With -update a run of all mutants asks all cases of the groups,
// and writes TABLE.md anew: every mutant, and which cases kill it.
//
// # Adding a mutant
//
// Write it into the table of its group. It should be a mistake that somebody could make, in the place where they would make it, and
// break one rule. Then
//
//	FAKEAPI_MUTANTS=all go test -run 'TestMutants$' -v -timeout 60m ./internal/mutants -update
package mutants
