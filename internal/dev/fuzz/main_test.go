package fuzz_test

import (
	"log/slog"
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// client-go throttles the errors that it reports with a clock that was started outside of the
// bubble; see the documentation of package scenario.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // clients log errors during faults
	os.Exit(m.Run())
}
