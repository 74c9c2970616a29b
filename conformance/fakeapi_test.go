package conformance_test

import (
	"context"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// configOf returns a configuration for a fake, with the functions that control it.
func configOf(srv *fakeapi.Server) conformance.Config {
	return conformance.Config{
		BaseURL:       srv.URL(),
		Client:        srv.Client(),
		Compact:       func(context.Context) error { srv.Compact(); return nil },
		ExpireWatches: func(context.Context) error { srv.ForgetHistory(); return nil },
		BeginStartup: func(context.Context) (func(), error) {
			return func() { _ = srv.Restart(0) }, srv.Restart(time.Hour) // Restart(0) does nothing if the server is ready
		},
	}
}

// configWithUsers returns a configuration for a fake with authentication, a custom authorizer that
// has no opinion, and RBAC.
func configWithUsers(t *testing.T) conformance.Config {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(),
		fakeapi.WithTokens(fakeapi.Token{Value: "admin", User: "admin", Groups: []string{"system:masters"}}, fakeapi.Token{Value: "unprivileged", User: "unprivileged"}),
		fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionNoOpinion, "", nil
		})), fakeapi.WithRBAC())
	config := configOf(srv)
	unprivileged, err := rest.HTTPClientFor(srv.RESTConfigWithToken("unprivileged"))
	require.NoError(t, err)
	config.UnprivilegedClient = unprivileged
	return config
}

// userCases are the cases that need different users.
var userCases = regexp.MustCompile(`^(AU-|RB-|SA-30$|DR-08$|WA-37$)`)

// TestFakeOverTCP runs more cases at a time than the default, because most of a run is waiting.
func TestFakeOverTCP(t *testing.T) {
	t.Parallel()
	config := configOf(fakeapi.Start(t))
	config.Parallel = 48
	config.Timeout = 5 * time.Minute // the machine may be busy
	conformance.Run(t, config)
}

// TestFakeWithInMemoryNetwork runs all cases on virtual time, where waiting costs nothing, so that
// no case is skipped for its duration, and those about users on another server. Each case must fail
// against some faulty server.
func TestFakeWithInMemoryNetwork(t *testing.T) {
	t.Parallel()
	var results []conformance.Result
	synctest.Test(t, func(t *testing.T) {
		config := configInMemory(t)
		config.Patience = 5 * time.Minute
		report, err := conformance.Execute(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Greater(t, report.Count(conformance.Passed), 1500)
		results = report.Results
	})
	synctest.Test(t, func(t *testing.T) { results = append(results, runWithUsers(t).Results...) })
	requireFaultForEachCase(t, results)
}

// runWithUsers runs the cases about users, with a second client and with impersonation. It returns
// the report of the first run.
func runWithUsers(t *testing.T) conformance.Report {
	config := configWithUsers(t)
	config.Run = regexp.MustCompile(userCases.String() + `|^VR-`)
	report := requireSafe(t, config)
	require.Zero(t, report.Count(conformance.Skipped))

	config.UnprivilegedClient = nil
	impersonating, err := conformance.Execute(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, impersonating.Err())
	require.Equal(t, 1, impersonating.Count(conformance.Skipped), "AU-08 needs two users")
	return report
}
