package perturb

import (
	"log/slog"
	"os"
	"runtime/debug"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// See the package documentation of scenario.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	debug.SetGCPercent(400) // runs have small heaps, whose collections take a fifth of the time
	os.Exit(m.Run())
}
