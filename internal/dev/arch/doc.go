// Package arch has no code of its own: its tests hold the rules by which the
// module is built, so that nobody has to remember them in a review.
//
//   - arrows_test.go: which package may import which (the list rooms), and that
//     what only tests need stays out of everything else
//   - dependencies_test.go: go.mod and the table in the README name the same
//     modules
//   - comments_test.go: every package has a comment, and every exported name of
//     the public packages
//   - state_test.go: no init functions, and no package-level variable that
//     changes
//   - text_test.go: the length of files, and no paths of anyone's machine
//   - examples_test.go: every function and method that a user can call is in an
//     example
//   - documents_test.go: what README, CONTRIBUTING and the comments of packages name
//     is there: files, tests, functions, numbers
//   - commands_test.go: so is what their command lines run
//   - manuals_test.go: the manual of each public package is whole, and names what the
//     package has
//
// Each rule is a function from parsed source to a list of complaints, and is
// tried on source that breaks it before it is trusted with the tree.
package arch
