// Package arch contains tests that check the structure of the module. It has no code.
//
//   - imports_test.go: which package may import which, and that modules for tests are imported by
//     tests only
//   - dependencies_test.go: go.mod and DEPENDENCIES.md list the same modules
//   - architecture_test.go: ARCHITECTURE.md lists every package, and the files that documents name
//     exist
//   - vocabulary_test.go: names of files and identifiers have no figurative words
//   - comments_test.go: every package and every exported name of a public package has a comment,
//     and no comment is wider than 100 columns
//   - state_test.go: no init functions and no package-level variables that change
//   - files_test.go: the length of files, and no paths of one machine
//   - readme_test.go, catalogue_test.go: the code of the README is tested, and what the catalogue
//     of faults refers to exists
//   - cached_test.go: long tests open no files of the module
//   - commands_test.go: the commands in documents name existing packages, tests and CI steps
//
// Each rule is a function from parsed source to a list of violations, with a test on source that
// breaks the rule.
package arch
