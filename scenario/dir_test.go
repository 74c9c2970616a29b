package scenario_test

import (
	"os"
	"testing"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// TestRunDir runs the scenarios in testdata. The clients under test are client-go's informers.
func TestRunDir(t *testing.T) {
	under := map[string]scenario.Client{}
	for _, i := range clients.All() {
		if i.Name == "informer" {
			under[i.Role] = i.Client
		}
	}
	scenario.RunDir(t, os.DirFS("testdata"), scenario.Config{Clients: under})
}
