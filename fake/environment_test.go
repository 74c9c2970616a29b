package fakeapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// The environment variables add faults, the seed and a delay to the servers of Start, and to no
// others. Options take precedence, and MustHit does not require the faults.
func TestStartReadsEnvironment(t *testing.T) {
	t.Setenv("FAKEAPI_FAULTS", "never: when verb(delete) do hang; busy: when verb(list) do status(429)")
	t.Setenv("FAKEAPI_SEED", "7")
	t.Setenv("FAKEAPI_WATCH_CACHE_DELAY", "1h")
	uid := func(opts ...fakeapi.Option) string {
		srv := fakeapi.Start(t, opts...)
		ns, err := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
		require.NoError(t, err)
		return string(ns.UID)
	}
	require.Equal(t, uid(), uid(fakeapi.WithSeed(7)))
	require.NotEqual(t, uid(), uid(fakeapi.WithSeed(8)))

	srv := fakeapi.Start(t, fakeapi.WithFaults(faults.Rule{Name: "own", When: faults.Verb("list"), Do: []faults.Effect{faults.Reply(faults.Expired())}}))
	code, _, _ := send(t, srv, "GET", "/api/v1/pods", "", nil)
	require.Equal(t, http.StatusGone, code)
	require.Len(t, srv.Faults().Rules(), 3)
	srv.Faults().MustHit(t)
	require.Equal(t, 1, srv.Faults().Remove("own"))
	code, _, _ = send(t, srv, "GET", "/api/v1/pods", "", nil)
	require.Equal(t, http.StatusTooManyRequests, code)

	srv.Faults().Clear()
	watch, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+"/api/v1/namespaces/default?resourceVersion=0", nil)
	require.NoError(t, err)
	response, err := srv.Client().Do(watch)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusNotFound, response.StatusCode, "the namespace is not an hour old")

	require.Len(t, srv.ForkFor(t).Faults().Rules(), 2)
	other, err := fakeapi.New()
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	require.Empty(t, other.Faults().Rules())
}

// fatalRecorder is a test that records the message of Fatalf and continues.
type fatalRecorder struct {
	fakeapi.TB
	message string
}

func (r *fatalRecorder) Fatalf(format string, args ...any) { r.message = fmt.Sprintf(format, args...) }

// An invalid value fails the test.
func TestStartRefusesEnvironment(t *testing.T) {
	for name, want := range map[string]string{
		"FAKEAPI_FAULTS":            "fakeapi: FAKEAPI_FAULTS: fault rule, line 1, column 1: ",
		"FAKEAPI_SEED":              "fakeapi: FAKEAPI_SEED: strconv.ParseUint",
		"FAKEAPI_WATCH_CACHE_DELAY": "fakeapi: FAKEAPI_WATCH_CACHE_DELAY: time: invalid duration",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "/no value")
			failed := &fatalRecorder{TB: t}
			require.Nil(t, fakeapi.Start(failed))
			require.True(t, strings.HasPrefix(failed.message, want), failed.message)
		})
	}
}
