// Package controller_test runs controller-runtime against the server: a manager with one
// controller, over TCP and in synctest bubbles, and the client alone.
package controller_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain discards logs and removes client-go's handlers of errors that cannot be returned. One of
// them limits errors to one per millisecond, counted from the start of the process on the real
// clock. In a bubble, where the time starts in the year 2000, it would block the first goroutine
// with an error for decades of virtual time.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
