package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// outcomes runs cases and returns their results by ID.
func outcomes(t *testing.T, args ...string) map[string]conformance.CaseJSON {
	t.Helper()
	got := runCommand(t, append([]string{"conformance", "--report", "json", "-q"}, args...)...)
	var report conformance.ReportJSON
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report), got.stderr)
	ended := map[string]conformance.CaseJSON{}
	for _, one := range report.Cases {
		ended[one.ID] = one
	}
	return ended
}

func TestConformanceHooks(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAPI())
	args := []string{"--url", srv.URL(), "--run", "^(CH-18|EX-03)/typed$"}
	control := srv.URL() + "/fakeapi/v1/"
	got := outcomes(t, args...)
	require.Equal(t, conformance.Skipped, got["CH-18/typed"].Outcome, got)
	got = outcomes(t, append(args, "--compact", control+"nothing")...)
	require.Equal(t, conformance.Failed, got["CH-18/typed"].Outcome, got)
	require.Contains(t, got["CH-18/typed"].Error, "Config.Compact: POST "+control+"nothing returned 404 Not Found: {")
	got = outcomes(t, append(args, "--compact", control+"compact", "--expire", control+"forget-history")...)
	require.Equal(t, conformance.Passed, got["CH-18/typed"].Outcome, got)
	require.Equal(t, conformance.Passed, got["EX-03/typed"].Outcome, got)
}

// --features determines what the cases expect of the server.
func TestConformanceFeatures(t *testing.T) {
	args := []string{"--url", fakeapi.Start(t).URL(), "--run", "^(CB-01/off|CB-0[13].*|SI-12)/?"}
	for feature, want := range map[string]conformance.Outcome{
		"": conformance.Skipped, "CBORServingAndStorage": conformance.Failed, "CBORServingAndStorage=true": conformance.Failed, "-CBORServingAndStorage,WatchList": conformance.Skipped,
		"CBORServingAndStorage=false": conformance.Skipped,
	} {
		with := args
		if feature != "" {
			with = append(with, "--features", feature)
		}
		require.Equal(t, want, outcomes(t, with...)["CB-03"].Outcome, feature)
	}
	require.Equal(t, conformance.Passed, outcomes(t, "--url", fakeapi.Start(t, fakeapi.WithFeature(fakeapi.CBOR, true)).URL(), "--run", "^CB-03$", "--features", "CBORServingAndStorage")["CB-03"].Outcome)
}

// kubeconfigAs writes a kubeconfig for a server, with an admin and a user "unprivileged" who has
// the token.
func kubeconfigAs(t *testing.T, srv *fakeapi.Server, name, token string) string {
	t.Helper()
	return manifest(t, name, "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {insecure-skip-tls-verify: true, server: '"+srv.URL()+"'}}]\n"+
		"users: [{name: admin, user: {token: admin}}, {name: unprivileged, user: {token: "+token+"}}]\n"+
		"contexts: [{name: a, context: {cluster: a, user: admin}}, {name: unprivileged, context: {cluster: a, user: unprivileged}}]\ncurrent-context: a\n")
}

// The unprivileged user comes from another context or from another file.
func TestConformanceUnprivileged(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTokens(fakeapi.Token{Value: "admin", User: "admin", Groups: []string{"system:masters"}}, fakeapi.Token{Value: "unprivileged", User: "unprivileged"}),
		fakeapi.WithAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionNoOpinion, "", nil
		})))
	file := kubeconfigAs(t, srv, "config", "unprivileged")
	args := []string{"--kubeconfig", file, "--run", "^AU-08$"} // the case needs two users
	require.Equal(t, conformance.Skipped, outcomes(t, args...)["AU-08"].Outcome)
	require.Equal(t, conformance.Passed, outcomes(t, append(args, "--unprivileged-context", "unprivileged")...)["AU-08"].Outcome)
	require.Equal(t, conformance.Passed, outcomes(t, append(args, "--unprivileged-kubeconfig", file, "--unprivileged-context", "unprivileged")...)["AU-08"].Outcome)
	require.Equal(t, conformance.Failed, outcomes(t, append(args, "--unprivileged-kubeconfig", file)...)["AU-08"].Outcome, "the current context is the administrator's")

	other := kubeconfigAs(t, fakeapi.Start(t), "other", "x")
	got := runCommand(t, "conformance", "--kubeconfig", file, "--unprivileged-kubeconfig", other)
	require.Equal(t, exitError, got.status)
	require.Contains(t, got.stderr, "fakeapi: the user without rights, of "+other+": its server is http")
	got = runCommand(t, "conformance", "--kubeconfig", file, "--unprivileged-kubeconfig", "/none")
	require.Equal(t, "fakeapi: the user without rights, of /none: no such file or directory\n", got.stderr)
}

// Tokens of ServiceAccounts are sent without the certificate of the kubeconfig, which the server
// would prefer.
func TestConformanceTokens(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithRBAC())
	got := outcomes(t, "--kubeconfig", srv.KubeconfigFile(t), "--run", "^RB-8[3-6]$")
	require.Len(t, got, 4)
	for id, one := range got {
		require.Equal(t, conformance.Passed, one.Outcome, "%s: %s%s", id, one.Reason, one.Error)
	}
}

// A dry run calls the hooks for its own server and not the configured ones.
func TestConformanceDryRunOfHooks(t *testing.T) {
	asked := false
	hooked := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer hooked.Close()
	got := runCommand(t, "conformance", "--url", fakeapi.Start(t).URL(), "--dry-run", "--run", "^(CH-18/typed|EX-03/typed|PV-28|CB-02)$",
		"--compact", hooked.URL, "--expire", hooked.URL, "--starting", "false", "--features", "CBORServingAndStorage,WatchList=false", "--unprivileged-context", "")
	require.Equal(t, exitOK, got.status, got.stderr)
	require.False(t, asked)
	for _, line := range []string{`EX-03/typed +MUST +1 +[1-9]`, `PV-28 +SHOULD +0 +0`, `CB-02 +MAY +1 +[1-9]`} {
		require.Regexp(t, `(?m)^`+line, got.stdout)
	}
}

func TestConformanceConfigUsage(t *testing.T) {
	config := manifest(t, "config", otherKubeconfig)
	for _, test := range []struct {
		args, want string
		status     int
	}{
		{"--kubeconfig a --url http://x", "--kubeconfig and --url are mutually exclusive; see", exitUsage},
		{"--url http://x --context c", "--context requires --kubeconfig; see", exitUsage},
		{"--url http://x --unprivileged-context c", "--unprivileged-context requires --kubeconfig or --unprivileged-kubeconfig; see", exitUsage},
		{"--url localhost:80", "--url localhost:80: it is not of the form http://host:port", exitError},
		{"--features Nope", `no case depends on a feature gate "Nope"; the feature gates are: CBORServingAndStorage, ConstrainedImpersonation, WatchList; see`, exitUsage},
		{"--features WatchList=perhaps", `"perhaps" is neither true nor false; see`, exitUsage},
		{"--features WatchList=", `"" is neither true nor false; see`, exitUsage},
		{"--features -WatchList=true", `"-WatchList=true" is ambiguous: use NAME, NAME=false or -NAME; see`, exitUsage},
		{"--features WatchList,-WatchList", "WatchList is both on and off; see", exitUsage},
		{"--features WatchList --features WatchList=false", "WatchList is both on and off; see", exitUsage},
		{"--compact http:///compact", `"http:///compact" is not a URL of the form http://host:port/path; see`, exitUsage},
		{"--starting=", "neither a URL nor a command; see", exitUsage},
		{"--starting http://x/start", "it must be a shell command, not a URL; see", exitUsage},
		{"--kubeconfig " + config + " --unprivileged-context nothing", `the user without rights, of ` + config + `: context "nothing" does not exist`, exitError},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := runCommand(t, append([]string{"conformance"}, strings.Fields(test.args)...)...)
			require.Equal(t, test.status, got.status, got.stderr)
			require.Empty(t, got.stdout)
			require.Contains(t, got.stderr, test.want)
		})
	}
}
