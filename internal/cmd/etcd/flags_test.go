package etcd

import (
	"bytes"
	"embed"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testdata has the files that tests read. They are embedded, because go test reuses the result of a
// test in another checkout only if the test opens no files of the module.
//
//go:embed testdata
var testdata embed.FS

// report returns the exit status and the output for an error of Parse.
func report(err error) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = reportUsage(err, &out, &errOut)
	return status, out.String(), errOut.String()
}

// validValues has a valid value for each type of flag whose default is not one.
var validValues = map[string]string{
	"cors": "http://example.com:80", "discovery-fallback": "exit", "feature-gates": "CompactHashCheck=true", "v2-deprecation": "gone,not-yet",
}

// TestEveryFlag parses each flag of the table by itself, with one dash and two, and as a variable.
func TestEveryFlag(t *testing.T) {
	table := &Flags{ignored: map[string]bool{}}
	table.define()
	var names []string
	table.all.VisitAll(func(f *flag.Flag) {
		names = append(names, fmt.Sprintf("%s|%q", f.Name, f.DefValue))
		require.NotEmpty(t, f.Usage, f.Name)
		switch f.Name {
		case "version", "config-file", "discovery", "discovery-endpoints", "discovery-token", "discovery-srv", "discovery-srv-name", "listen-client-urls":
			return // those that are refused alone, or print
		}
		value := f.DefValue
		if v, found := validValues[f.Name]; found {
			value = v
		}
		for _, dashes := range []string{"-", "--"} {
			_, err := parse([]string{dashes + f.Name + "=" + value}, nil)
			require.NoError(t, err, f.Name)
		}
		parsed, err := parse(nil, []string{environmentVariable(f.Name) + "=" + value})
		require.NoError(t, err, f.Name)
		require.Equal(t, value != "", parsed.set[f.Name], f.Name)
	})
	// The names and defaults that the flag set of etcd v3.6.8 has.
	want, err := testdata.ReadFile("testdata/flags.txt")
	require.NoError(t, err)
	slices.Sort(names)
	require.Equal(t, strings.Split(strings.TrimSpace(string(want)), "\n"), names)
}

func TestParseEnvtest(t *testing.T) {
	f, err := parse([]string{
		"--advertise-client-urls=http://127.0.0.1:1234", "--data-dir=data", "--listen-client-urls=http://127.0.0.1:1234",
		"--listen-peer-urls=http://127.0.0.1:1235", "--unsafe-no-fsync=true",
	}, []string{"ETCD_NAME=infra", "ETCD_UNSUPPORTED_ARCH=arm", "HOME=home"})
	require.NoError(t, err)
	require.Len(t, f.ListenClientURLs, 1)
	require.Equal(t, "http://127.0.0.1:1234", f.ListenClientURLs[0].String())
	require.Equal(t, "127.0.0.1:1234", f.AdvertiseClientURLs[0].Host)
	require.Equal(t, "1235", f.ListenPeerURLs[0].Port())
	require.Equal(t, "data", f.DataDir)
	require.Equal(t, "infra", f.Name)
	require.Empty(t, f.Notes())
}

func TestDefaults(t *testing.T) {
	f, err := parse(nil, nil)
	require.NoError(t, err)
	require.Equal(t, "localhost:2379", f.ListenClientURLs[0].Host)
	require.Equal(t, "localhost:2380", f.ListenPeerURLs[0].Host)
	require.Equal(t, "default", f.Name)
	require.Empty(t, f.ListenMetricsURLs)
}

func TestURLs(t *testing.T) {
	f, err := parse([]string{"--listen-peer-urls=http://127.0.0.1:2, http://127.0.0.1:1,http://127.0.0.1:2", "--listen-metrics-urls="}, nil)
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:1,http://127.0.0.1:2", joinURLs(f.ListenPeerURLs))
	require.Empty(t, f.ListenMetricsURLs)
	f, err = parse([]string{"--listen-peer-urls=unix://peers.sock:0"}, nil)
	require.NoError(t, err)
	require.Equal(t, "unix", f.ListenPeerURLs[0].Scheme)
}

func TestUsageErrors(t *testing.T) {
	for _, test := range []struct{ argument, message string }{
		{"--unknown", "flag provided but not defined: -unknown"},
		{"-insecure=1", "flag provided but not defined: -insecure"},
		{"--data-dir", "flag needs an argument: -data-dir"},
		{"--max-wals=a", `invalid value "a" for flag -max-wals: parse error`},
		{"--unsafe-no-fsync=maybe", `invalid boolean value "maybe" for -unsafe-no-fsync: parse error`},
		{"--initial-cluster-state=old", `invalid value "old" for flag -initial-cluster-state: invalid value`},
		{"--v2-deprecation=never", `invalid value "never" for flag -v2-deprecation: invalid value "never"`},
		{"--listen-client-urls=127.0.0.1:1", `invalid value "127.0.0.1:1" for flag -listen-client-urls: parse "127.0.0.1:1": first path segment in URL cannot contain colon`},
		{"--listen-client-urls=ftp://127.0.0.1:1", `invalid value "ftp://127.0.0.1:1" for flag -listen-client-urls: URL scheme must be http, https, unix, or unixs: ftp://127.0.0.1:1`},
		{"--listen-client-urls=http://127.0.0.1", `invalid value "http://127.0.0.1" for flag -listen-client-urls: URL address does not have the form "host:port": http://127.0.0.1`},
		{"--listen-client-urls=http://127.0.0.1:1/a", `invalid value "http://127.0.0.1:1/a" for flag -listen-client-urls: URL must not contain a path: http://127.0.0.1:1/a`},
		{"--feature-gates=Unknown=true", `invalid value "Unknown=true" for flag -feature-gates: unrecognized feature gate: Unknown`},
		{"--feature-gates=CompactHashCheck", `invalid value "CompactHashCheck" for flag -feature-gates: missing bool value for CompactHashCheck`},
		{"--max-concurrent-streams=-1", `invalid value "-1" for flag -max-concurrent-streams: strconv.ParseUint: parsing "-1": invalid syntax`},
	} {
		_, err := parse([]string{test.argument}, nil)
		status, stdout, stderr := report(err)
		require.Equal(t, 2, status, test.argument)
		require.Empty(t, stdout)
		require.Equal(t, test.message+"\n"+usageText+"\n", stderr)
	}
}

func TestValidation(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		message   string
	}{
		{[]string{"serve"}, `"serve" is not a valid flag`},
		{[]string{"gateway", "start"}, "the subcommand gateway is not supported here"},
		{[]string{"--config-file=etcd.yaml"}, "--config-file etcd.yaml: configuration files are not supported here; use flags or environment variables"},
		{[]string{"--listen-client-urls=http://127.0.0.1:1"}, "--advertise-client-urls is required when --listen-client-urls is set explicitly"},
		{[]string{"--listen-peer-urls=http://example.com:1"}, "expected IP in URL for binding (http://example.com:1)"},
		{[]string{"--advertise-client-urls=http://:1"}, `--advertise-client-urls "http://:1" must be "host:port" (unexpected empty host (http://:1))`},
		{[]string{"--initial-advertise-peer-urls=http://:1"}, `--initial-advertise-peer-urls "http://:1" must be "host:port" (unexpected empty host (http://:1))`},
		{[]string{"--heartbeat-interval=0"}, "--heartbeat-interval must be >0 (set to 0ms)"},
		{[]string{"--election-timeout=0"}, "--election-timeout must be >0 (set to 0ms)"},
		{[]string{"--election-timeout=499"}, "--election-timeout[499ms] should be at least as 5 times as --heartbeat-interval[100ms]"},
		{[]string{"--election-timeout=50001"}, "--election-timeout[50001ms] is too long, and should be set less than 50000ms"},
		{[]string{"--compact-hash-check-time=0"}, "--compact-hash-check-time must be >0 (set to 0s)"},
		{[]string{"--auto-compaction-mode=daily"}, `unknown auto-compaction-mode "daily"`},
		{[]string{"--auto-compaction-mode="}, "undefined auto-compaction-mode"},
		{[]string{"--auto-compaction-retention=a"}, `time: invalid duration "a"`},
		{[]string{"--auto-compaction-mode=revision", "--auto-compaction-retention=5m"}, `strconv.ParseInt: parsing "5m": invalid syntax`},
		{[]string{"--tls-min-version=TLS1.1"}, `unexpected TLS version "TLS1.1" (must be one of: TLS1.2, TLS1.3)`},
		{[]string{"--tls-min-version=TLS1.3", "--tls-max-version=TLS1.2"}, "min version (TLS1.3) is greater than max version (TLS1.2)"},
		{[]string{"--tls-min-version=TLS1.3", "--cipher-suites=a"}, "cipher suites cannot be configured when only TLS1.3 is enabled"},
		{[]string{"--discovery-fallback=proxy"}, `v2 proxy is deprecated, and --discovery-fallback can't be configured as "proxy"`},
		{[]string{"--discovery-token=a"}, "both --discovery-token and --discovery-endpoints must be set"},
		{[]string{"--discovery-token=a", "--discovery-endpoints= "}, "--discovery-endpoints must not contain empty endpoints"},
		{[]string{"--discovery=http://127.0.0.1:1"}, "discovery services are not supported here: the cluster has one member"},
		{[]string{"--discovery=http://127.0.0.1:1", "--discovery-srv=example.com"}, `multiple discovery or bootstrap flags are set. Choose one of "initial-cluster", "discovery", "discovery-endpoints" or "discovery-srv"`},
	} {
		_, err := parse(test.arguments, nil)
		require.EqualError(t, err, test.message)
		status, stdout, stderr := report(err)
		require.Equal(t, 1, status)
		require.Empty(t, stdout)
		require.Contains(t, stderr, `"msg":"failed to verify flags","error":"`)
	}
}

func TestEnvironmentErrors(t *testing.T) {
	_, err := parse([]string{"--name=a"}, []string{"ETCD_NAME=b"})
	require.EqualError(t, err, "conflicting environment variable is shadowed by corresponding command-line flag (either unset environment variable or disable flag)): ETCD_NAME")
	_, err = parse(nil, []string{"ETCD_MAX_WALS=a"})
	require.EqualError(t, err, `invalid value "a" for ETCD_MAX_WALS: parse error`)
	_, err = parse(nil, []string{"ETCD_VERSION=true"})
	require.NoError(t, err, "--version cannot be set by a variable")
}

func TestHelpAndVersion(t *testing.T) {
	for _, flag := range []string{"-h", "--help", "-help"} {
		_, err := parse([]string{flag}, nil)
		status, stdout, stderr := report(err)
		require.Equal(t, 0, status)
		require.Regexp(t, `(?m)^\s*--unsafe-no-fsync\b`, stdout, "controller-runtime looks for flags in this way")
		require.Contains(t, stdout, "  --listen-client-urls 'http://localhost:2379'\n    URLs to listen at for clients\n")
		require.Equal(t, usageText+"\n", stderr)
	}
	_, err := parse([]string{"--version"}, nil)
	status, stdout, stderr := report(err)
	require.Equal(t, 0, status)
	require.Regexp(t, `^etcd Version: 3\.6\.\d+\nGit SHA: \S+\nGo Version: go\S+\nGo OS/Arch: \w+/\w+\n$`, stdout)
	require.Empty(t, stderr)
}

func TestNotes(t *testing.T) {
	f, err := parse([]string{"--snapshot-count=1", "--name=a", "--experimental-initial-corrupt-check"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"These flags have no effect here: --experimental-initial-corrupt-check, --snapshot-count"}, f.Notes())
}
