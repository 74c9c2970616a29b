package etcd

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// releaseVersion is the version that --version prints.
const releaseVersion = "3.6.8"

// usageText is what etcd prints after an error in the command line.
const usageText = `Usage:

  etcd [flags]
    Keep the objects of kube-apiserver processes in memory.

  etcd --version
    Print the version.

  etcd -h | --help
    Print all flags.
`

// logEntry is a line of the log of etcd.
type logEntry struct {
	Level     string `json:"level"`
	Timestamp string `json:"ts"`
	Message   string `json:"msg"`
	Error     string `json:"error"`
}

// reportUsage writes what etcd writes for an error of Parse, and returns the exit status.
func reportUsage(err error, stdout, stderr io.Writer) int {
	return controlplane.Report(err, stdout, stderr, func(err error) {
		// The texts are marshaled without an error.
		_ = json.NewEncoder(stderr).Encode(logEntry{"warn", time.Now().UTC().Format("2006-01-02T15:04:05.000000Z0700"), "failed to verify flags", err.Error()})
	})
}

// helpText returns what --help prints on the standard output: all flags in their sections.
func (f *Flags) helpText() string {
	var b strings.Builder
	for _, s := range f.table() {
		fmt.Fprintf(&b, "\n%s:\n", s.name)
		for _, row := range s.rows {
			note := ""
			if row.effect == ignored {
				note = " (no effect)"
			}
			fmt.Fprintf(&b, "  --%s '%s'\n    %s%s\n", row.name, f.all.Lookup(row.name).DefValue, row.description, note)
		}
	}
	return b.String()
}

// versionText returns what --version prints.
func versionText() string {
	return fmt.Sprintf("etcd Version: %s\nGit SHA: fakeapi\nGo Version: %s\nGo OS/Arch: %s/%s\n", releaseVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
