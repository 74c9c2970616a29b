package etcd

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// Flags are the flags of etcd v3.6.
type Flags struct {
	// Name and DataDir are the name of the member and its directory.
	Name, DataDir string

	// The URLs to listen at, and those that clients use. They have no paths.
	ListenClientURLs, ListenClientHTTPURLs, ListenPeerURLs, ListenMetricsURLs []url.URL
	AdvertiseClientURLs                                                       []url.URL

	// The files for TLS with clients. AutoTLS is true to issue a certificate.
	CertFile, KeyFile, TrustedCAFile string
	ClientCertAuth, AutoTLS          bool

	advertisePeerURLs            []url.URL
	initialCluster               string
	discovery                    discoveryFlags
	heartbeatInterval            uint
	electionTimeout              uint
	quotaBackendBytes            int64
	compactionRetention          string
	compactionMode               string
	compactHashCheckTime         time.Duration
	tlsMinVersion, tlsMaxVersion string
	cipherSuites                 []string
	logger                       string
	logOutputs                   []string
	tracing                      bool
	tracingRate                  int
	configFile                   string
	version                      bool

	all     *flag.FlagSet
	set     map[string]bool
	ignored map[string]bool
}

// discoveryFlags are those about discovery services.
type discoveryFlags struct {
	url, token, fallback  string
	endpoints             []string
	domain, domainService string
}

// Parse parses the arguments of etcd, without the name of the program, and the environment
// variables ETCD_*, and validates them. Errors have the texts of etcd. --help and --version are
// errors, too: reportUsage writes what etcd writes.
func Parse(args []string) (*Flags, error) { return parse(args, os.Environ()) }

func parse(args, environment []string) (*Flags, error) {
	f := &Flags{set: map[string]bool{}, ignored: map[string]bool{}}
	f.define()
	if len(args) > 0 && (args[0] == "gateway" || args[0] == "grpc-proxy") {
		return nil, controlplane.Failure(fmt.Errorf("the subcommand %s is not supported here", args[0]))
	}
	var output bytes.Buffer
	f.all.SetOutput(&output)
	if err := f.all.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil, &controlplane.Exit{Stdout: f.helpText(), Stderr: usageText + "\n"}
	} else if err != nil {
		return nil, &controlplane.Exit{Status: 2, Stderr: output.String()}
	}
	if f.all.NArg() > 0 {
		return nil, controlplane.Failure(fmt.Errorf("%q is not a valid flag", f.all.Arg(0)))
	}
	if f.version {
		return nil, &controlplane.Exit{Stdout: versionText()}
	}
	if err := f.readEnvironment(environment); err != nil {
		return nil, controlplane.Failure(err)
	}
	f.all.Visit(func(set *flag.Flag) { f.set[set.Name] = true })
	if err := f.validate(); err != nil {
		return nil, controlplane.Failure(err)
	}
	return f, nil
}

// define defines all flags.
func (f *Flags) define() {
	f.all = flag.NewFlagSet("etcd", flag.ContinueOnError)
	f.all.Usage = func() { fmt.Fprint(f.all.Output(), usageText+"\n") }
	for _, s := range f.table() {
		for _, row := range s.rows {
			row.define(f.all, row.name, row.description)
			f.ignored[row.name] = row.effect == ignored
		}
	}
}

// environmentPrefix is that of environment variables for flags.
const environmentPrefix = "ETCD_"

// environmentVariable returns the environment variable of a flag.
func environmentVariable(flag string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnvironment sets the flags that are not on the command line from environment variables. A
// variable of a flag that is on the command line is an error, as in etcd.
func (f *Flags) readEnvironment(environment []string) (err error) {
	values := map[string]string{}
	for _, variable := range environment {
		if name, value, found := strings.Cut(variable, "="); found && strings.HasPrefix(name, environmentPrefix) {
			values[name] = value
		}
	}
	delete(values, environmentVariable("version"))
	onCommandLine := map[string]bool{}
	f.all.Visit(func(set *flag.Flag) { onCommandLine[set.Name] = true })
	f.all.VisitAll(func(known *flag.Flag) {
		name := environmentVariable(known.Name)
		value, found := values[name]
		switch {
		case !found:
		case onCommandLine[known.Name]:
			err = errors.Join(err, fmt.Errorf("conflicting environment variable is shadowed by corresponding command-line flag (either unset environment variable or disable flag)): %s", name))
		case value != "":
			if setErr := f.all.Set(known.Name, value); setErr != nil {
				err = errors.Join(err, fmt.Errorf("invalid value %q for %s: %w", value, name, setErr))
			}
		}
	})
	return err
}

// Notes returns the lines for the log about flags that have no effect here.
func (f *Flags) Notes() []string {
	var found []string
	f.all.Visit(func(set *flag.Flag) {
		if f.ignored[set.Name] {
			found = append(found, "--"+set.Name)
		}
	})
	if len(found) == 0 {
		return nil
	}
	return []string{"These flags have no effect here: " + strings.Join(found, ", ")}
}
