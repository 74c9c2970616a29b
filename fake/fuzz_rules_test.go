package fakeapi_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// Whatever a fault rule does to a client, nothing panics, and when the rule is gone the server is
// well: what it lists is what it has, and it can be closed.
func FuzzRules(f *testing.F) {
	table, err := os.ReadFile("../faults/testdata/rules.txt")
	require.NoError(f, err)
	for line := range strings.Lines(string(table)) {
		if rule, err := faults.Parse(line); err == nil {
			f.Add(rule.String())
		}
	}
	base := baseOf(f, selectable()...)
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := faults.Parse(text)
		if err != nil {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			var panics atomic.Int64
			p := forkOf(t, base, fakeapi.WithMiddleware(noting(&panics)))
			if _, err := p.srv.Faults().Add(rule); err != nil {
				return
			}
			for _, media := range []string{inJSON, inProtobuf} {
				p.suffer(media)
			}
			p.srv.Faults().Clear()
			require.Zero(t, panics.Load())
			for _, path := range []string{limitMaps, "/api/v1/namespaces", limitWidgets} {
				require.Equal(t, http.StatusOK, p.ask("GET", path, "", inJSON, nil).code)
			}
			if names := texts(p.ask("GET", limitMaps+"/"+"m", "", inJSON, nil).object, "metadata"); names["name"] == "m" {
				p.readInEveryWay(limitMaps, "m", false)
			}
		})
	})
}

// noting counts what panics and does not mean to break a connection off.
func noting(panics *atomic.Int64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				if cause := recover(); cause != nil {
					if cause != http.ErrAbortHandler {
						panics.Add(1)
					}
					panic(http.ErrAbortHandler)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// suffer makes the requests of a client who gives up after some minutes, and takes what comes.
func (p probe) suffer(media string) {
	for _, request := range [][3]string{
		{"POST", limitMaps, `{"metadata":{"name":"m","labels":{"app":"x"}}}`},
		{"GET", limitMaps + "/a", ""},
		{"GET", "/api/v1/configmaps?limit=2", ""},
		{"GET", limitMaps + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=100", ""},
		{"GET", limitMaps + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=100", ""},
		{"PATCH", limitMaps + "/a", `{"data":{"k":"v"}}`},
		{"PUT", limitMaps + "/b", `{"metadata":{"name":"b"},"data":{"k":"v"}}`},
		{"DELETE", limitMaps + "/c", ""},
		{"GET", "/apis", ""},
		{"GET", "/livez", ""},
	} {
		ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Minute)
		r, err := http.NewRequestWithContext(ctx, request[0], p.srv.URL()+request[1], strings.NewReader(request[2]))
		require.NoError(p.t, err)
		r.Header.Set("Accept", media)
		if r.Header.Set("Content-Type", inJSON); request[0] == "PATCH" {
			r.Header.Set("Content-Type", mergeJSON)
		}
		if resp, err := p.srv.Client().Do(r); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
			_ = resp.Body.Close()
		}
		cancel()
	}
}
