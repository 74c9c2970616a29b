package controlplane

import (
	"io"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// NewLogger returns a logger that writes to w in the format of Kubernetes components.
func NewLogger(w io.Writer) klog.Logger {
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(w)))
}
