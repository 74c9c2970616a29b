package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/cmd/environment"
)

const serverArguments = "[--address ADDRESS | --port PORT] [--control-address ADDRESS] [--kubeconfig FILE] [--ca-file FILE] [--load DIR_OR_FILE]... [--tls] [--token TOKEN]... [--client-ca FILE]... [--authorization-mode MODE,...]... [--host NAME]... " +
	"[--faults RULES] [--controllers=false] [--cbor] [--cache-initializing DURATION] [--latency] [--access-report FILE] [--audit-policy-file FILE --audit-log-path FILE] " + optionArguments

// serverFlags has the flags of the commands that start a server, and the environment variables that
// have a similar meaning.
type serverFlags struct {
	address        string
	controlAddress string // "" for the address of the server
	kubeconfig     string // "" for a temporary file
	caFile         string // "" for none
	load           []string
	tls            bool
	tokens         []fakeapi.Token
	clientCAs      []string // paths
	modes          []fakeapi.AuthorizationMode
	hosts          []string
	cbor           bool
	faults         string // "" for none
	latency        bool   // add the latency of a real cluster
	// cacheInitializing is how long the watch cache initializes, 0 for not at all.
	cacheInitializing time.Duration
	accessReport      string // "" for none
	audit             auditFlags
	// controllers reports whether the server runs controllers.
	controllers bool
	server      optionFlags
	environment environment.Environment
}

func (f *serverFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.address, "address", "127.0.0.1:0", "listen on this loopback `ADDRESS`; port 0, as in 127.0.0.1:0 (the default), is a free one")
	flags.Func("port", "listen on this `PORT` of 127.0.0.1; the same as --address 127.0.0.1:PORT", f.setPort)
	flags.StringVar(&f.controlAddress, "control-address", "", "also serve the control API, without credentials and over plain HTTP, on this loopback `ADDRESS`, such as 127.0.0.1:0 for a free port")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "write a kubeconfig to `FILE` and keep it; one of an earlier run is removed first; without it, a temporary one is written and removed at the end")
	flags.StringVar(&f.caFile, "ca-file", "", "write the certificate authority of the server to `FILE` (PEM) and keep it; implies --tls")
	flags.Func("load", "store the manifests in `DIR_OR_FILE` at the start (.yaml, .yml, .json; directories recursively), CustomResourceDefinitions first; can be repeated", func(path string) error {
		f.load = append(f.load, path)
		return nil
	})
	flags.BoolVar(&f.tls, "tls", false, "serve HTTPS, with HTTP/2; the kubeconfig has the certificate authority, which is created for this run")
	flags.Func("token", "require a bearer token, and accept `TOKEN` as system:admin, or with TOKEN,USER,GROUP,... as another user; implies --tls; can be repeated, and the kubeconfig has the first", func(text string) error {
		f.tokens = append(f.tokens, tokenOf(text))
		return nil
	})
	flags.Func("client-ca", "accept client certificates of the authorities in `FILE` (PEM); implies --tls; can be repeated, and the kubeconfig has a certificate of system:admin if there are no tokens", func(path string) error {
		f.clientCAs = append(f.clientCAs, path)
		return nil
	})
	flags.Func("authorization-mode", "authorize requests by `MODE,...`, asked in this order: Node, RBAC, AlwaysAllow (the default) and AlwaysDeny; implies --tls and requests of system:anonymous unless AlwaysAllow is among them; "+
		"the kubeconfig has a certificate of system:admin in system:masters if there are no tokens; can be repeated", f.addModes)
	flags.Func("host", "accept requests with the host `NAME`, and add it to the certificate; loopback names and addresses are always accepted; can be repeated", func(name string) error {
		f.hosts = append(f.hosts, name)
		return nil
	})
	flags.BoolVar(&f.cbor, "cbor", false, "enable CBOR; the same as --feature-gates CBORServingAndStorage=true")
	flags.DurationVar(&f.cacheInitializing, "cache-initializing", 0, "for this `DURATION` after the start, and for each custom resource after a change of its definition, respond to watches and lists with 429, as while a watch cache is initialized")
	flags.BoolVar(&f.latency, "latency", false, "delay requests and watch events by 1 to 5 ms, as in a cluster")
	flags.StringVar(&f.faults, "faults", "", "add the fault rules `RULES`, separated by semicolons, or those in the file of this name, one per line; also ready-made ones such as expire410(resource(pods))")
	flags.StringVar(&f.accessReport, "access-report", "", "at the end, write to `FILE` what each user and user agent requested and whether it was allowed: .json as JSON, .yaml and .yml as the smallest manifests, else as text")
	flags.BoolVar(&f.controllers, "controllers", true, "run controllers: namespace deletion, garbage collection, and the deletion of pods after their grace period")
	flags.StringVar(&f.audit.policy, "audit-policy-file", "", "write an audit log by the policy in `FILE`, as kube-apiserver does; requires --audit-log-path")
	flags.StringVar(&f.audit.log, "audit-log-path", "", "append the audit log to `FILE`, a line of JSON for each event; requires --audit-policy-file")
	f.server.define(flags)
}

func (f *serverFlags) setPort(text string) error {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return fmt.Errorf("%q is not a port", text)
	}
	f.address = fmt.Sprintf("127.0.0.1:%d", port)
	return nil
}

// addModes parses MODE,...
func (f *serverFlags) addModes(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		mode := fakeapi.AuthorizationMode(strings.TrimSpace(name))
		switch {
		case !slices.Contains(fakeapi.AuthorizationModes(), mode):
			return fmt.Errorf("%q is not one of the modes %v", mode, fakeapi.AuthorizationModes())
		case slices.Contains(f.modes, mode):
			return fmt.Errorf("the mode %s is specified more than once", mode)
		}
		f.modes = append(f.modes, mode)
	}
	return nil
}

// tokenOf parses the value of --token. The server validates it.
func tokenOf(text string) fakeapi.Token {
	fields := strings.Split(text, ",")
	if len(fields) == 1 {
		return fakeapi.Token{Value: text, User: "system:admin", Groups: []string{"system:masters"}}
	}
	return fakeapi.Token{Value: fields[0], User: fields[1], Groups: fields[2:]}
}

// prepare reads the environment variables, and checks what can be checked before anything is read
// or written. It removes the kubeconfig of an earlier run.
func (f *serverFlags) prepare(c *call) (err error) {
	if f.accessReport != "" && !f.server.timeline {
		return c.usageError(errors.New("--access-report requires --timeline"))
	}
	if (f.audit.policy == "") != (f.audit.log == "") {
		return c.usageError(errors.New("--audit-policy-file and --audit-log-path require each other"))
	}
	if f.kubeconfig != "" {
		if err := removeOldKubeconfig(f.kubeconfig); err != nil {
			return err
		}
	}
	f.environment, err = environment.Read(os.Getenv)
	return err
}

// options returns all options of the server. It reads the files that the flags name.
func (f *serverFlags) options(ctx context.Context, c *call) ([]fakeapi.Option, error) {
	from, err := openSources(f.load)
	if err != nil {
		return nil, err
	}
	opts := slices.Concat(from.options(), f.environment.Options(), f.ownOptions(), f.server.options(c.stderr))
	if len(f.clientCAs) > 0 {
		authorities, err := f.readClientCAs(ctx)
		if err != nil {
			return nil, err
		}
		opts = append(opts, fakeapi.WithClientCA(authorities...))
	}
	if f.faults != "" {
		rules, err := readFaults(ctx, f.faults)
		if err != nil {
			return nil, err
		}
		opts = append(opts, fakeapi.WithFaults(rules...))
	}
	if f.audit.policy != "" {
		opt, err := f.audit.open(ctx)
		if err != nil {
			return nil, err
		}
		opts = append(opts, opt)
	}
	return opts, nil
}

// ownOptions returns the options of the flags that need no files.
func (f *serverFlags) ownOptions() []fakeapi.Option {
	opts := []fakeapi.Option{fakeapi.WithAddress(f.address), fakeapi.WithControlAPI()}
	if f.controlAddress != "" {
		opts = append(opts, fakeapi.WithControlAddress(f.controlAddress))
	}
	if f.tls || f.caFile != "" {
		opts = append(opts, fakeapi.WithTLS())
	}
	if len(f.tokens) > 0 {
		opts = append(opts, fakeapi.WithTokens(f.tokens...))
	}
	if len(f.hosts) > 0 {
		opts = append(opts, fakeapi.WithAllowedHosts(f.hosts...))
	}
	if len(f.modes) > 0 {
		opts = append(opts, fakeapi.WithAuthorizationModes(f.modes...))
	}
	if f.cbor {
		opts = append(opts, fakeapi.WithFeature(fakeapi.CBOR, true))
	}
	if f.cacheInitializing != 0 {
		opts = append(opts, fakeapi.WithCacheInitializing(f.cacheInitializing))
	}
	if f.latency {
		opts = append(opts, fakeapi.WithFaults(faults.RealisticLatency(1)...))
	}
	if !f.controllers {
		opts = append(opts, fakeapi.WithoutControllers())
	}
	return opts
}

func (f *serverFlags) readClientCAs(ctx context.Context) (all [][]byte, err error) {
	for _, path := range f.clientCAs {
		text, err := readFile(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("--client-ca %s: %w", path, unwrapPathError(err))
		}
		all = append(all, text)
	}
	return all, nil
}
