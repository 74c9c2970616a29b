// Package kubectl has the main function of upstream kubectl, of the version in this module's
// go.mod. Tests that run the program import it, so that go test knows what their results depend on.
package kubectl

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

// Main runs kubectl with the arguments of the process, and exits.
func Main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
	os.Exit(0)
}
