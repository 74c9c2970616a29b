package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/version"

	fakeapi "example.com/fakeapi/fake"
)

// printVersion prints the version of fakeapi and the Kubernetes version that a server reports.
func printVersion(ctx context.Context, c *call) error {
	if err := c.parse(func(*flag.FlagSet) {}); err != nil {
		return err
	}
	s, err := fakeapi.New(fakeapi.WithInMemoryNetwork())
	if err != nil {
		return err
	}
	as, err := serverRelease(ctx, s)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "fakeapi %s (%s, %s/%s), as Kubernetes %s\n", moduleVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, as)
	return err
}

// moduleVersion returns the version of the binary's module, or "(devel)" for a checkout.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// commandUserAgent is the user agent of the command's own requests.
const commandUserAgent = "fakeapi-command"

// serverRelease returns the Kubernetes version that a server reports. Its response shows that the
// server is up. The server with a control API reports it there, because such a request is in no
// record, and no fault applies to it.
func serverRelease(ctx context.Context, s *fakeapi.Server) (string, error) {
	var info version.Info
	var index struct{ Version string }
	var err error
	if s.ControlURL() != "" {
		err = getDocument(ctx, s, s.ControlURL(), &index)
	} else {
		err = getDocument(ctx, s, s.URL()+"/version", &info)
	}
	return cmp.Or(index.Version, info.GitVersion), err
}

// getDocument reads a JSON document of a server.
func getDocument(ctx context.Context, s *fakeapi.Server, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", commandUserAgent)
	request.Header.Set("Accept", "application/json")
	response, err := s.Client().Do(request)
	if err != nil {
		return fmt.Errorf("the server does not respond: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server returned %s for GET %s", response.Status, request.URL.Path)
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("the server's response to GET %s: %w", request.URL.Path, err)
	}
	return nil
}
