package conformance_test

import (
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// TestMain removes client-go's error handler that throttles by the wall clock. In a synctest
// bubble, which starts in the year 2000, it would sleep for decades. The first handler, which logs,
// stays.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	os.Exit(m.Run())
}
