package mutants

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// The environment of TestSuite: which cases to run, a regular expression, and where to write which of them passed and failed.
const (
	casesVariable  = "FAKEAPI_MUTANT_CASES"
	resultVariable = "FAKEAPI_MUTANT_RESULT"
)

// suiteResult is what a run of the suite came to.
type suiteResult struct{ Passed, Failed []string }

// add notes the outcomes of a report.
func (r *suiteResult) add(report conformance.Report) {
	for _, one := range report.Results {
		switch one.Outcome {
		case conformance.Passed:
			r.Passed = append(r.Passed, one.Case.ID)
		case conformance.Failed:
			r.Failed = append(r.Failed, one.Case.ID)
		}
	}
}

// aboutUsers are the cases that find something to judge only where users differ.
var aboutUsers = regexp.MustCompile(`^AU-`)

// aboutCBOR are those that want a server which has it.
var aboutCBOR = regexp.MustCompile(`^CB-0[23]`)

// TestSuite is what the mutation run runs, in the binary that is every mutant. On its own it runs one case on the whole server.
func TestSuite(t *testing.T) {
	cases := regexp.MustCompile(os.Getenv(casesVariable))
	if cases.String() == "" {
		cases = regexp.MustCompile(`^GT-01/typed$`)
	}
	var plain, users, cbor []string
	for _, one := range conformance.Cases() {
		if !cases.MatchString(one.ID) {
			continue
		}
		switch {
		case aboutUsers.MatchString(one.ID):
			users = append(users, one.ID)
		case aboutCBOR.MatchString(one.ID):
			cbor = append(cbor, one.ID)
		default:
			plain = append(plain, one.ID)
		}
	}
	require.NotEmpty(t, slices.Concat(plain, users, cbor), "no case matches %s", cases)
	var result suiteResult
	synctest.Test(t, func(t *testing.T) {
		runCases(t, &result, configOf(fakeapi.Start(t, fakeapi.InMemory())), plain)
		runCases(t, &result, configWithUsers(t), users)
		runCases(t, &result, configOf(fakeapi.Start(t, fakeapi.InMemory(), fakeapi.WithCBOR())), cbor)
	})
	path := os.Getenv(resultVariable)
	if path == "" {
		require.Empty(t, result.Failed)
		return
	}
	text, err := json.Marshal(result)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

// runCases runs some cases, if there are any.
func runCases(t *testing.T, result *suiteResult, config conformance.Config, ids []string) {
	if len(ids) == 0 {
		return
	}
	config.Patience = 5 * time.Minute
	config.Run = only(ids)
	report, err := conformance.Execute(t.Context(), config)
	require.NoError(t, err)
	result.add(report)
}

// only selects cases by their IDs.
func only(ids []string) *regexp.Regexp {
	return regexp.MustCompile("^(" + strings.Join(ids, "|") + ")$")
}

// configOf points the suite at a server, with the knobs that it has.
func configOf(srv *fakeapi.Server) conformance.Config {
	return conformance.Config{
		BaseURL: srv.URL(),
		Client:  srv.Client(),
		Compact: func(context.Context) error { srv.Compact(); return nil },
		Expire:  func(context.Context) error { srv.Expire(); return nil },
	}
}

// configWithUsers starts a server that asks who sends a request and whether that may be done, and points the suite at it.
func configWithUsers(t *testing.T) conformance.Config {
	srv := fakeapi.Start(t, fakeapi.InMemory(),
		fakeapi.WithTokens(fakeapi.NewToken("admin", "admin", "system:masters"), fakeapi.NewToken("nobody", "nobody")),
		fakeapi.WithAuthorizer(func(fakeapi.Attributes) fakeapi.Decision { return fakeapi.NoOpinion("") }))
	config := configOf(srv)
	nobody, err := rest.HTTPClientFor(srv.RESTConfigAs("nobody"))
	require.NoError(t, err)
	config.Nobody = nobody
	return config
}
