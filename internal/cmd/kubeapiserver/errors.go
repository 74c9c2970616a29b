package kubeapiserver

import (
	"errors"
	"fmt"
	"io"

	"k8s.io/klog/v2/textlogger"
)

// exit is an error of Parse that ends the process: what it writes, and its exit status.
type exit struct {
	status         int
	stdout, stderr string
	// err is the error that kube-apiserver logs, or nil.
	err error
}

// Error returns the error without the form in which it is written.
func (e *exit) Error() string {
	switch {
	case e.err != nil:
		return e.err.Error()
	case e.status == 0:
		return "help or version requested"
	}
	return e.stderr
}

// Unwrap returns the error of a flag.
func (e *exit) Unwrap() error { return e.err }

// usageError returns the error of a command line that the parser refuses. kube-apiserver writes it as
// it is, and logs all others.
func usageError(err error) error {
	return &exit{status: 1, stderr: fmt.Sprintf("Error: %v\n", err)}
}

// failure returns an error that kube-apiserver logs.
func failure(err error) error { return &exit{status: 1, err: err} }

// reportUsage writes what kube-apiserver writes for an error of Parse, and returns the exit status.
func reportUsage(err error, stdout, stderr io.Writer) int {
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{status: 1, err: err}
	}
	if e.err != nil {
		textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(stderr))).Error(e.err, "command failed")
	}
	_, _ = io.WriteString(stdout, e.stdout)
	_, _ = io.WriteString(stderr, e.stderr)
	return e.status
}
