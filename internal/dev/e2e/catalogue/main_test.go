// Package catalogue_test runs the cases of the scenarios' catalogue with clients of
// controller-runtime, in bubbles of virtual time.
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

// clientName is what the lines Passes and Fails call the clients of this package.
const clientName = "controller-runtime"

// TestMain silences client-go, and takes away its brake on errors, which counts
// from the start of the process on the real clock and would stop a goroutine in
// a bubble for decades.
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

// TestCatalogueNamesClient: each case of the two roles says what becomes of these
// clients.
func TestCatalogueNamesClient(t *testing.T) {
	for _, c := range scenario.Catalogue() {
		if c.Role != "mirror" && c.Role != "elector" {
			continue
		}
		if _, fails := c.Fails[clientName]; !fails && !slices.Contains(c.Passes, clientName) {
			t.Errorf("%s: expected %s in one of the lines Passes and Fails", c, clientName)
		}
	}
}
