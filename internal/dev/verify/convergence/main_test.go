package convergence

import (
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// client-go throttles the errors that it reports by the wall clock of the
// process's start: on the clock of a bubble, which begins in the year 2000, the
// first one would sleep for decades. The first handler, which logs, stays.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	os.Exit(m.Run())
}
