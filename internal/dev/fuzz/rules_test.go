package fuzz_test

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

// A fault rule causes no panic. Once it is removed, the server lists its objects correctly and can
// be closed.
func FuzzRules(f *testing.F) {
	table, err := os.ReadFile("../../../faults/testdata/rules.txt")
	require.NoError(f, err)
	for line := range strings.Lines(string(table)) {
		if rule, err := faults.Parse(line); err == nil {
			f.Add(rule.String())
		}
	}
	base := newFuzzServer(f, newSelectableObjects()...)
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := faults.Parse(text)
		if err != nil {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			var panics atomic.Int64
			p := newProbe(t, base, fakeapi.WithMiddleware(countPanics(&panics)))
			if _, err := p.srv.Faults().Add(rule); err != nil {
				return
			}
			for _, media := range []string{mediaJSON, mediaProtobuf} {
				p.checkUnderFaults(media)
			}
			p.srv.Faults().Clear()
			require.Zero(t, panics.Load())
			for _, path := range []string{configMapsPath, "/api/v1/namespaces", widgetsPath} {
				require.Equal(t, http.StatusOK, p.do("GET", path, "", mediaJSON, nil).code)
			}
			if names := stringsAt(p.do("GET", configMapsPath+"/"+"m", "", mediaJSON, nil).object, "metadata"); names["name"] == "m" {
				p.checkEncodings(configMapsPath, "m", false)
			}
		})
	})
}

// countPanics counts panics other than http.ErrAbortHandler.
func countPanics(panics *atomic.Int64) func(http.Handler) http.Handler {
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

// checkUnderFaults sends requests and ignores the responses. Each request is cancelled after some
// minutes.
func (p probe) checkUnderFaults(media string) {
	for _, request := range [][3]string{
		{"POST", configMapsPath, `{"metadata":{"name":"m","labels":{"app":"x"}}}`},
		{"GET", configMapsPath + "/a", ""},
		{"GET", "/api/v1/configmaps?limit=2", ""},
		{"GET", configMapsPath + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=100", ""},
		{"GET", configMapsPath + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=100", ""},
		{"PATCH", configMapsPath + "/a", `{"data":{"k":"v"}}`},
		{"PUT", configMapsPath + "/b", `{"metadata":{"name":"b"},"data":{"k":"v"}}`},
		{"DELETE", configMapsPath + "/c", ""},
		{"GET", "/apis", ""},
		{"GET", "/livez", ""},
	} {
		ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Minute)
		r, err := http.NewRequestWithContext(ctx, request[0], p.srv.URL()+request[1], strings.NewReader(request[2]))
		require.NoError(p.t, err)
		r.Header.Set("Accept", media)
		if r.Header.Set("Content-Type", mediaJSON); request[0] == "PATCH" {
			r.Header.Set("Content-Type", mergeJSON)
		}
		if resp, err := p.srv.Client().Do(r); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
			_ = resp.Body.Close()
		}
		cancel()
	}
}
