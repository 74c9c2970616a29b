package conformance_test

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// configOf points the suite at a fake, with the knobs that it has.
func configOf(srv *fakeapi.Server) conformance.Config {
	return conformance.Config{
		BaseURL:       srv.URL(),
		Client:        srv.Client(),
		Compact:       func(context.Context) error { srv.Compact(); return nil },
		ExpireWatches: func(context.Context) error { srv.ForgetHistory(); return nil },
		BeginStartup: func(context.Context) (func(), error) {
			return func() { _ = srv.Restart(0) }, srv.Restart(time.Hour) // a door that is open stays so
		},
	}
}

// configWithUsers starts a fake that asks who sends a request and whether that may be done, and points the suite at it.
func configWithUsers(t *testing.T) conformance.Config {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(),
		fakeapi.WithTokens(fakeapi.Token{Value: "admin", User: "admin", Groups: []string{"system:masters"}}, fakeapi.Token{Value: "unprivileged", User: "unprivileged"}),
		fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionNoOpinion, "", nil
		})))
	config := configOf(srv)
	unprivileged, err := rest.HTTPClientFor(srv.RESTConfigWithToken("unprivileged"))
	require.NoError(t, err)
	config.UnprivilegedClient = unprivileged
	return config
}

// userCases are the cases that find something to judge only where users differ.
var userCases = regexp.MustCompile(`^(AU-|SA-30$|DR-08$)`)

// TestFakeWithUsers runs what is about users, as another user and by impersonation.
func TestFakeWithUsers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config := configWithUsers(t)
		config.Run = regexp.MustCompile(userCases.String() + `|^VR-`)
		report, err := conformance.Execute(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Zero(t, report.Count(conformance.Skipped))

		config.UnprivilegedClient = nil
		report, err = conformance.Execute(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Equal(t, 1, report.Count(conformance.Skipped), "AU-08 needs two users")
	})
}

// TestFakeOverTCP deals the cases out to a number of servers, which run side by side: most of the time of a run is waiting.
func TestFakeOverTCP(t *testing.T) {
	t.Parallel()
	var running sync.WaitGroup
	for _, selection := range splitCases(16) {
		config := configOf(fakeapi.Start(t, fakeapi.WithResourceVersionTimeout(50*time.Millisecond)))
		config.Run = selection
		running.Go(func() { conformance.Run(t, config) })
	}
	running.Wait()
}

// splitCases makes n selections of cases that have every case once.
func splitCases(n int) []*regexp.Regexp {
	parts := make([][]string, n)
	for i, one := range conformance.Cases() {
		parts[i%n] = append(parts[i%n], one.ID)
	}
	var selections []*regexp.Regexp
	for _, ids := range parts {
		selections = append(selections, regexp.MustCompile("^("+strings.Join(ids, "|")+")$"))
	}
	return selections
}

// TestFakeInMemory runs on virtual time, where the full waits of the server cost nothing and no case is too long.
func TestFakeWithInMemoryNetwork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config := configOf(fakeapi.Start(t, fakeapi.WithInMemoryNetwork()))
		config.Patience = 5 * time.Minute
		report, err := conformance.Execute(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Greater(t, report.Count(conformance.Passed), 100)
	})
}
