//go:build !unix

package subprocess

import "os"

// terminate is the signal for a command that has to end.
var terminate = os.Kill

// forwarded returns the signals that are forwarded.
func forwarded() []os.Signal { return []os.Signal{os.Interrupt} }

// forward does nothing: the console sends its signals to all processes.
func forward(*os.Process, os.Signal) {}
