package kubeapiserver

import (
	"fmt"
	goruntime "runtime"
	"strings"

	apiversion "k8s.io/apimachinery/pkg/version"
	cliflag "k8s.io/component-base/cli/flag"
)

// releaseVersion is the version that --version prints.
const releaseVersion = "v1.37.2"

// helpText returns what --help prints: all flags, in sections.
func (f *Flags) helpText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A Kubernetes API server in memory, for tests, with the flags of kube-apiserver %s.\n"+
		"Those that are marked (no effect) are accepted and change nothing.\n\nUsage:\n  kube-apiserver [flags]\n", releaseVersion)
	cliflag.PrintSections(&b, f.sections, 0)
	return b.String()
}

// versionText returns what --version and --version=raw print.
func (f *Flags) versionText() string {
	if f.version == versionRaw {
		return fmt.Sprintf("%#v\n", apiversion.Info{
			Major: "1", Minor: "37", GitVersion: releaseVersion, GitCommit: "fakeapi", GitTreeState: "clean",
			BuildDate: "1970-01-01T00:00:00Z", GoVersion: goruntime.Version(), Compiler: goruntime.Compiler,
			Platform: goruntime.GOOS + "/" + goruntime.GOARCH,
		})
	}
	return "Kubernetes " + releaseVersion + "\n"
}
