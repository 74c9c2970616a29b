package clients_test

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// client-go throttles the errors that it reports with a clock that was started outside of the
// bubble; see package scenario.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // clients log errors during faults
	os.Exit(m.Run())
}

// This example runs the clients that create an object in a scenario with a lost response.
func ExampleAll() {
	const text = `fault lost: when verb(create) && during(committed) && first(1) do reset
run creator
eventually 1m expect done creator
expect configmap/only
`
	for _, c := range clients.All() {
		if c.Role != "creator" {
			continue
		}
		_, err := scenario.Play("lost.txtar", text, scenario.Config{Clients: map[string]scenario.Client{"creator": c.Client}})
		fmt.Printf("%s: %v\n", c.Name, err == nil)
	}
	// Output:
	// careful: true
	// careless: false
	// thorough: true
}
