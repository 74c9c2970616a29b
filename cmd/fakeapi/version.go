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

// printVersion says which fakeapi this is and asks a server which Kubernetes it
// behaves as.
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

// moduleVersion is the version that the binary was built from, "(devel)" if that
// was a checkout.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// commandUserAgent is the user agent of the command's own requests.
const commandUserAgent = "fakeapi-command"

// serverRelease asks a server for the Kubernetes release that it behaves as. That it
// answers at all is the sign that it serves.
func serverRelease(ctx context.Context, s *fakeapi.Server) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/version", nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("User-Agent", commandUserAgent)
	answer, err := s.Client().Do(request)
	if err != nil {
		return "", fmt.Errorf("the server does not answer: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the server answers %s to GET /version", answer.Status)
	}
	var info version.Info
	if err := json.NewDecoder(answer.Body).Decode(&info); err != nil {
		return "", fmt.Errorf("the server's answer to GET /version: %w", err)
	}
	return info.GitVersion, nil
}
