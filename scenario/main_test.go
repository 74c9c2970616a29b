package scenario

import (
	"log/slog"
	"os"
	"runtime/debug"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// client-go throttles the errors that it reports with a clock that was started outside of the
// bubble; see the package documentation.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // clients log errors during faults
	debug.SetGCPercent(400)                           // runs have small heaps, whose collections take a fifth of the time
	os.Exit(m.Run())
}
