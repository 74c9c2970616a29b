// Package languages has tests of clients in other languages than Go: Python, JavaScript,
// TypeScript, Ruby, Java, kubectl and Helm. Each folder has what a page of docs shows, file by
// file, and further tests of the same client.
//
//	internal/dev/languages/run             runs all of them, by installing what registries have
//	internal/dev/languages/run python      runs one
//
// The script is a step of .ci/run. It lists what it left out because it could not be installed. The
// test of this package compares the pages with the files, and with -update copies the files into
// the pages.
package languages
