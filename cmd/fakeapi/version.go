package main

import (
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
// server is up.
func serverRelease(ctx context.Context, s *fakeapi.Server) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/version", nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("User-Agent", commandUserAgent)
	answer, err := s.Client().Do(request)
	if err != nil {
		return "", fmt.Errorf("the server does not respond: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the server returned %s for GET /version", answer.Status)
	}
	var info version.Info
	if err := json.NewDecoder(answer.Body).Decode(&info); err != nil {
		return "", fmt.Errorf("the server's response to GET /version: %w", err)
	}
	return info.GitVersion, nil
}
