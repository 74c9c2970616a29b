// Command kubectl is upstream kubectl, built from the version in this module's go.mod. The tests
// run the same program as users do and need no installed kubectl.
package main

import "example.com/fakeapi/internal/dev/e2e/internal/kubectl"

func main() { kubectl.Main() }
