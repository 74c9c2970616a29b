package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// notYet are the cases that need what the fake does not do. A skip that names no case fails the run.
var notYet = map[string]string{
	"NM-21/existing/typed": "the fake has no server-side apply",
	"NM-21/absent/typed":   "the fake has no server-side apply",
}

// configOf points the suite at a fake, with the knobs that it has.
func configOf(srv *fakeapi.Server) conformance.Config {
	return conformance.Config{
		BaseURL: srv.URL(),
		Client:  srv.Client(),
		Skip:    notYet,
		Compact: func(context.Context) error { srv.Compact(); return nil },
		Expire:  func(context.Context) error { srv.Expire(); return nil },
	}
}

func TestFakeOverTCP(t *testing.T) {
	conformance.Run(t, configOf(fakeapi.Start(t, fakeapi.WithFutureWait(50*time.Millisecond))))
}

// TestFakeInMemory runs on virtual time, where the full waits of the server cost nothing.
func TestFakeInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		report, err := conformance.Execute(t.Context(), configOf(fakeapi.Start(t, fakeapi.InMemory())))
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Greater(t, report.Count(conformance.Passed), 100)
	})
}
