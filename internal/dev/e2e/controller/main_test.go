// Package controller_test runs controller-runtime against the server: a manager
// with one controller, over TCP and in bubbles of virtual time, and the client on
// its own.
package controller_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain takes away what client-go does with errors that it cannot return. Its
// log is noise here, and its brake (no more than an error a millisecond, counted
// from the start of the process on the real clock) would put the first goroutine
// that has an error in a bubble, where it is the year 2000, to sleep for decades.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
