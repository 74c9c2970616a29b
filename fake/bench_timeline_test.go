package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// BenchmarkTimeline measures servers with and without a timeline, alternating. x-without is the
// ratio of the times.
func BenchmarkTimeline(b *testing.B) {
	const maps = "/api/v1/namespaces/default/configmaps"
	for name, path := range map[string]string{"get": maps + "/m0000001", "list10000": maps} {
		b.Run(name, func(b *testing.B) {
			objects := newKiBConfigMaps(10_000)
			benchAlternating(b, func(opts ...fakeapi.Option) func() {
				srv := fakeapi.Start(b, append(opts, fakeapi.WithObjects(objects...))...)
				return func() { benchFetch(b, srv.Client(), srv.URL()+path) }
			})
		})
	}
	b.Run("create", func(b *testing.B) {
		benchAlternating(b, func(opts ...fakeapi.Option) func() {
			srv := fakeapi.Start(b, opts...)
			n := 0
			return func() {
				n++
				body, err := json.Marshal(newKiBConfigMap(fmt.Sprintf("m%07d", n)))
				require.NoError(b, err)
				post(b, srv.Client(), http.MethodPost, srv.URL()+maps, body, http.StatusCreated)
			}
		})
	})
	b.Run("watchlist10000", func(b *testing.B) {
		objects := newKiBConfigMaps(10_000)
		benchAlternating(b, func(opts ...fakeapi.Option) func() {
			srv := fakeapi.Start(b, append(opts, fakeapi.WithObjects(objects...))...)
			url := srv.URL() + "/api/v1/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
			return func() { readLines(b, srv.Client(), url, 10_001) }
		})
	})
	b.Run("event/watchers=10000", func(b *testing.B) {
		benchAlternating(b, func(opts ...fakeapi.Option) func() { return startFanout(b, 10_000, false, opts...) })
	})
}

// benchAlternating measures the function that make returns for a server with and without a
// timeline, and reports medians.
func benchAlternating(b *testing.B, make func(...fakeapi.Option) func()) {
	do := [2]func(){make(), make(fakeapi.WithoutTimeline())}
	do[0]()
	do[1]()
	var took [2][]time.Duration
	for i := 0; b.Loop(); i++ {
		for _, which := range [2]int{i % 2, 1 - i%2} {
			start := time.Now()
			do[which]()
			took[which] = append(took[which], time.Since(start))
		}
	}
	median := func(of []time.Duration) float64 {
		slices.Sort(of)
		return of[len(of)/2].Seconds()
	}
	b.ReportMetric(0, "ns/op") // the sum of both is not meaningful
	b.ReportMetric(median(took[0])*1e6, "with-us")
	b.ReportMetric(median(took[1])*1e6, "without-us")
	b.ReportMetric(median(took[0])/median(took[1]), "x-without")
}
