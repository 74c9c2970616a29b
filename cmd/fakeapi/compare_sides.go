package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/compare"
)

// selfName is the name of a server in this process.
const selfName = "self"

// sideFlags has the flags of one side.
type sideFlags struct{ name, context, compact string }

// check returns an error if flags of the side called which contradict each other.
func (f sideFlags) check(which string) error {
	if _, recorded := f.recordings(); recorded || f.name == selfName {
		if f.context != "" {
			return fmt.Errorf("--%s-context requires a kubeconfig", which)
		}
		if f.compact != "" {
			return fmt.Errorf("--%s-compact requires a kubeconfig", which)
		}
	}
	return nil
}

// recordings returns the folder of recorded exchanges, if the side is one.
func (f sideFlags) recordings() (folder string, ok bool) { return strings.CutPrefix(f.name, "golden:") }

// openSide is a side with a server.
type openSide struct {
	name, address   string
	base            string
	client          *http.Client
	compact, expire func(context.Context) error // may be nil
	close           func()
}

// open connects to the server of a kubeconfig, or starts one. which is the name of the side.
func (f sideFlags) open(ctx context.Context, which string, controllers bool) (*openSide, error) {
	if f.name == selfName {
		return startSide(controllers)
	}
	to, err := readCluster(ctx, f.name, f.context)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w", which, f.name, err)
	}
	if err := checkReachable(ctx, to, reachTimeout); err != nil {
		return nil, err
	}
	side := &openSide{
		name: f.name, address: to.base.Redacted(), base: to.base.String(), client: &http.Client{Transport: to.transport}, close: func() {},
	}
	if f.compact != "" {
		side.compact = hook(f.compact).post
	}
	return side, nil
}

// startSide starts a server in this process.
func startSide(controllers bool, opts ...fakeapi.Option) (*openSide, error) {
	if !controllers {
		opts = append(opts, fakeapi.WithoutControllers())
	}
	srv, err := fakeapi.New(append(opts, fakeapi.WithoutTimeline())...)
	if err != nil {
		return nil, err
	}
	return &openSide{
		name: selfName, address: "servers of this process", base: srv.URL(), client: srv.Client(),
		compact: func(context.Context) error { srv.Compact(); return nil },
		expire:  func(context.Context) error { srv.ForgetHistory(); return nil },
		close:   func() { _ = srv.Close() }, // everything in it has ended
	}, nil
}

// side returns the side as the suite needs it.
func (o *openSide) side(config conformance.Config) compare.Side {
	config.BaseURL, config.Client, config.Compact, config.ExpireWatches = o.base, o.client, o.compact, o.expire
	return compare.Side{Name: o.name, Config: config}
}
