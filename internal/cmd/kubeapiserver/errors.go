package kubeapiserver

import (
	"fmt"
	"io"

	"k8s.io/klog/v2/textlogger"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// usageError returns the error of a command line that the parser refuses. kube-apiserver writes it
// as it is, and logs all others.
func usageError(err error) error {
	return &controlplane.Exit{Status: 1, Stderr: fmt.Sprintf("Error: %v\n", err)}
}

// reportUsage writes what kube-apiserver writes for an error of Parse, and returns the exit status.
func reportUsage(err error, stdout, stderr io.Writer) int {
	return controlplane.Report(err, stdout, stderr, func(err error) {
		textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(stderr))).Error(err, "command failed")
	})
}
