// Package catalogue_test runs the cases of the scenario catalogue with clients based on
// controller-runtime, in bubbles.
package catalogue_test

import (
	"os"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/fakeapi/scenario"
)

// clientName is the name of these clients in the fields Passes and Fails.
const clientName = "controller-runtime"

// TestMain disables the logs of client-go, and its throttle of errors, which uses a clock from
// outside of the bubble and would block a goroutine in the bubble for decades.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func TestMirror(t *testing.T) {
	scenario.RunCatalogue(t, "mirror", mirror, scenario.KnownFailures("mirror", clientName))
}

func TestElector(t *testing.T) {
	scenario.RunCatalogue(t, "elector", elector, scenario.KnownFailures("elector", clientName))
}

func TestInventory(t *testing.T) {
	scenario.RunCatalogue(t, "inventory", inventory, scenario.KnownFailures("inventory", clientName))
}

// Each case of these roles lists these clients.
func TestCatalogueNamesClient(t *testing.T) {
	for _, c := range scenario.Catalogue() {
		if !slices.Contains([]string{"mirror", "elector", "inventory"}, c.Role) {
			continue
		}
		if _, fails := c.Fails[clientName]; !fails && !slices.Contains(c.Passes, clientName) {
			t.Errorf("%s: expected %s in one of the lines Passes and Fails", c, clientName)
		}
	}
}
