package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	fakeapi "example.com/fakeapi/fake"
)

// serveFlags is what the command line asks of serve.
type serveFlags struct {
	address    string
	kubeconfig string // "" means a temporary one
	load       []string
	tls        bool
	tokens     []fakeapi.Token
	faults     string // "" for none
	// controllers says whether the server does what a control plane would.
	controllers bool
}

func (f *serveFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.address, "address", "127.0.0.1:0", "listen on this loopback `ADDRESS`; port 0, as in 127.0.0.1:0 (the default), is a free one")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "write a kubeconfig to `FILE` and leave it there; without it, a temporary one is written and removed at the end")
	flags.Func("load", "store the manifests in `DIR_OR_FILE` first (.yaml, .yml, .json; directories with all below them); can be repeated", func(path string) error {
		f.load = append(f.load, path)
		return nil
	})
	flags.BoolVar(&f.tls, "tls", false, "serve HTTPS, with HTTP/2; the kubeconfig carries the certificate authority, which is made for this run")
	flags.Func("token", "ask for a bearer token, and accept `TOKEN`: that of system:admin, or with TOKEN,USER,GROUP,... of another user; includes --tls; can be repeated, and the kubeconfig carries the first", func(text string) error {
		f.tokens = append(f.tokens, tokenOf(text))
		return nil
	})
	flags.StringVar(&f.faults, "faults", "", "arm the fault rules in `FILE`, one a line, from the start")
	flags.BoolVar(&f.controllers, "controllers", true, "do what a control plane does around the API: end namespaces with all that is in them, collect garbage, remove pods when their grace is over; --controllers=false leaves it to others")
}

// tokenOf reads a token as --token takes it. What is wrong with it the server says.
func tokenOf(text string) fakeapi.Token {
	fields := strings.Split(text, ",")
	if len(fields) == 1 {
		return fakeapi.NewToken(text, "system:admin", "system:masters")
	}
	return fakeapi.NewToken(fields[0], fields[1], fields[2:]...)
}

// options are those of the server.
func (f *serveFlags) options() []fakeapi.Option {
	opts := []fakeapi.Option{fakeapi.WithAddress(f.address), fakeapi.WithControl()}
	if f.tls {
		opts = append(opts, fakeapi.WithTLS())
	}
	if len(f.tokens) > 0 {
		opts = append(opts, fakeapi.WithTokens(f.tokens...))
	}
	if !f.controllers {
		opts = append(opts, fakeapi.WithoutControllers())
	}
	return opts
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, c *call) error {
	var f serveFlags
	if err := c.parse(f.define); err != nil {
		return err
	}
	from, err := openSources(f.load)
	if err != nil {
		return err
	}
	opts := append(from.options(), f.options()...)
	if f.faults != "" {
		rules, err := readFaults(f.faults)
		if err != nil {
			return err
		}
		opts = append(opts, fakeapi.WithFaults(rules...))
	}
	s, err := fakeapi.New(opts...)
	if err != nil {
		return from.explain(err)
	}
	err = serveUntilDone(ctx, s, f, c.stdout)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // interrupted before it was announced
	}
	return errors.Join(err, s.Close())
}

// serveUntilDone announces a server that runs, and waits for the end of ctx.
func serveUntilDone(ctx context.Context, s *fakeapi.Server, f serveFlags, stdout io.Writer) (err error) {
	release, err := release(ctx, s)
	if err != nil {
		return err
	}
	file, err := newKubeconfigFile(f.kubeconfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.close()) }()
	content, err := s.Kubeconfig()
	if err != nil {
		return err
	}
	if err := file.write(content); err != nil {
		return err
	}
	if err := announce(stdout, s.URL(), release, file); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// announce says in one write where the server is and what to do with it.
func announce(w io.Writer, url, release string, file *kubeconfigFile) error {
	path, fate := shellQuote(file.path), ""
	if file.temporary() {
		fate = " (removed at the end)"
	}
	_, err := fmt.Fprintf(w, `serving on %s, as Kubernetes %s does
kubeconfig: %s%s

  export KUBECONFIG=%s
  kubectl --kubeconfig %s get namespaces

Ctrl-C ends it.
`, url, release, file.path, fate, path, path)
	return err
}
