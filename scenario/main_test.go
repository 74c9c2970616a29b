package scenario

import (
	"io"
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// client-go throttles the errors that it reports by a clock that was started
// outside of the bubble; see the package documentation.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.LogToStderr(false) // what clients complain of while they are broken
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}
