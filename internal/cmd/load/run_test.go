package load_test

import (
	"bytes"
	"context"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/load"
)

// short returns a server with fault rules, and the Config of a very short run.
func short(t *testing.T, rules string) (*fakeapi.Server, load.Config) {
	srv := fakeapi.Start(t, fakeapi.WithNamespaceDeletionDelay(0))
	_, err := srv.Faults().AddText(rules)
	require.NoError(t, err)
	return srv, load.Config{
		BaseURL:   srv.URL(),
		Connect:   func() (http.RoundTripper, error) { return &http.Transport{}, nil },
		Namespace: "load", Objects: 1000, Clients: 3, Watchers: []int{1, 5}, Duration: 5 * time.Millisecond,
	}
}

// requireClean requires that a run has removed everything.
func requireClean(t *testing.T, srv *fakeapi.Server) {
	t.Helper()
	require.NoError(t, srv.RunControllers(t.Context()))
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1()
	maps, err := client.ConfigMaps("").List(t.Context(), metav1.ListOptions{LabelSelector: "app=fakeapi-bench"})
	require.NoError(t, err)
	require.Empty(t, maps.Items)
	namespaces, err := client.Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: "app=fakeapi-bench"})
	require.NoError(t, err)
	require.Empty(t, namespaces.Items)
}

func TestRun(t *testing.T) {
	srv, config := short(t, "")
	report, err := load.Run(t.Context(), config)
	require.NoError(t, err)
	requireClean(t, srv)
	var seen []string
	for _, f := range report.Figures {
		seen = append(seen, f.Name)
		require.Positive(t, f.Requests, f.Name)
		require.Zero(t, f.Failed, "%s: %s", f.Name, f.FirstError)
		require.Positive(t, f.PerSecond, f.Name)
		require.LessOrEqual(t, f.P50, f.P99, f.Name)
		if watchers, isEvents := strings.CutPrefix(f.Name, "events to "); isEvents {
			n, err := strconv.Atoi(watchers)
			require.NoError(t, err)
			require.Zero(t, f.Requests%n, "each watcher reads each event")
		}
	}
	require.Equal(t, "create create get get update update patch patch apply apply list page of 500 page in the middle watch list fan-out to 1 fan-out to 5 events to 1 events to 5 delete",
		strings.Join(seen, " "))
	require.Equal(t, 1000, report.Figures[0].Requests+report.Figures[1].Requests, "created")
	require.True(t, strings.HasPrefix(report.Namespace, "load-"), report.Namespace)
	require.True(t, strings.HasPrefix(report.Version, "v1.37."), report.Version)
	require.Empty(t, report.Notes)
	if runtime.GOOS == "linux" {
		require.True(t, slices.ContainsFunc(report.Figures, func(f load.Figure) bool { return f.ProcessorTime > 0 }))
	}

	var text bytes.Buffer
	require.NoError(t, report.Write(&text))
	require.Regexp(t, `(?m)^page in the middle +1 +\d+ +0 `, text.String())
}

// An interrupted run removes what it has created.
func TestRunInterrupted(t *testing.T) {
	for _, at := range []string{"create, clients: 3", "patch, clients: 1", "fan-out, watchers: 5"} {
		t.Run(at, func(t *testing.T) {
			srv, config := short(t, "")
			ctx, cancel := context.WithCancel(t.Context())
			config.Progress = func(what string) {
				if what == at {
					cancel()
				}
			}
			report, err := load.Run(ctx, config)
			require.ErrorIs(t, err, context.Canceled)
			requireClean(t, srv)
			require.NotEmpty(t, report.Figures)
			for _, f := range report.Figures {
				require.NotEqual(t, at, f.Name)
			}
		})
	}
}

// Failed requests are counted separately, and too many of them end a measurement.
func TestRunFailures(t *testing.T) {
	srv, config := short(t, "when verb(patch) && nth(2) do status(503)\nwhen verb(update) do status(500)")
	config.Watchers = nil
	config.Duration = 50 * time.Millisecond
	report, err := load.Run(t.Context(), config)
	require.NoError(t, err)
	requireClean(t, srv)
	failed, first := report.Failed()
	require.Contains(t, first, "500")
	sum := 0
	for _, f := range report.Figures {
		sum += f.Failed
		switch {
		case f.Name == "update":
			require.Equal(t, f.Requests, f.Failed)
			require.GreaterOrEqual(t, f.Failed, 1)
			require.Less(t, f.Failed, 100+config.Clients, "too many failures end the measurement")
			require.Zero(t, f.PerSecond)
		case f.Failed > 0:
			require.Equal(t, "patch", f.Name)
			require.Contains(t, f.FirstError, "503")
			require.Greater(t, f.Requests, f.Failed)
		}
	}
	require.Equal(t, sum, failed)
}

func TestRunCannotGoOn(t *testing.T) {
	for rules, want := range map[string]string{
		"when verb(create) && resource(configmaps) do status(500)":           "objects could not be created",
		"when verb(create) && resource(namespaces) do status(403)":           "403",
		"when path(/version) do status(401)":                                 "GET /version: 401",
		"when verb(deletecollection) && resource(configmaps) do status(403)": "is not removed",
	} {
		t.Run(want, func(t *testing.T) {
			_, config := short(t, rules)
			config.Watchers = nil
			_, err := load.Run(t.Context(), config)
			require.ErrorContains(t, err, want)
		})
	}
}

// The report notes what the server does not support.
func TestRunLeavesOut(t *testing.T) {
	srv, config := short(t, "when verb(watch) && query(sendInitialEvents) do status(422)")
	config.Objects = 100
	report, err := load.Run(t.Context(), config)
	require.NoError(t, err)
	requireClean(t, srv)
	require.Len(t, report.Notes, 2)
	require.Contains(t, report.Notes[0], "1000 objects")
	require.Contains(t, report.Notes[1], "streaming lists are not served")
}

func TestValidate(t *testing.T) {
	_, valid := short(t, "")
	require.NoError(t, valid.Validate())
	for want, change := range map[string]func(*load.Config){
		"not an http":         func(c *load.Config) { c.BaseURL = "ftp://x" },
		"no Connect function": func(c *load.Config) { c.Connect = nil },
		"namespace":           func(c *load.Config) { c.Namespace = "No" },
		"0 clients":           func(c *load.Config) { c.Clients = 0 },
		"257 clients":         func(c *load.Config) { c.Clients = 257 },
		"2 objects":           func(c *load.Config) { c.Objects = 2 },
		"100001 objects":      func(c *load.Config) { c.Objects = 100_001 },
		"11m0s":               func(c *load.Config) { c.Duration = 11 * time.Minute },
		"unknown resource":    func(c *load.Config) { c.Resources = []string{"secrets"} },
		"0 watchers":          func(c *load.Config) { c.Watchers = []int{1, 0} },
	} {
		config := valid
		change(&config)
		require.ErrorContains(t, config.Validate(), want)
		_, err := load.Run(t.Context(), config)
		require.ErrorContains(t, err, want)
	}
}

// Each request of each resource is measured once for each object, and everything is removed.
func TestRunResources(t *testing.T) {
	srv, config := short(t, "when verb(list) && resource(gauges) && first(1) do status(429)") // as while a watch cache starts
	config.Objects, config.Watchers, config.Resources = 5, nil, load.Resources()
	config.Duration = time.Nanosecond // so that delete leaves ConfigMaps
	report, err := load.Run(t.Context(), config)
	require.NoError(t, err)
	requireClean(t, srv)
	var definitions apiextensionsv1.CustomResourceDefinitionList
	require.NoError(t, srv.List("", &definitions))
	require.Empty(t, definitions.Items)
	requests := map[string]int{}
	for _, f := range report.Figures {
		require.Zero(t, f.Failed, "%s: %s", f.Name, f.FirstError)
		requests[f.Name] = f.Requests
	}
	for _, kind := range []string{"configmap", "pod", "deployment", "custom resource"} {
		for _, request := range []string{"create", "get", "merge patch", "json patch", "apply", "apply again"} {
			require.Equal(t, 5, requests[kind+" "+request], "%s %s", kind, request)
		}
		require.Equal(t, kind != "custom resource", requests[kind+" update"] == 5, kind)
		require.Equal(t, kind != "custom resource", requests[kind+" strategic patch"] == 5, kind)
		require.Equal(t, kind != "configmap", requests[kind+" status patch"] == 5, kind)
		require.Equal(t, 10, requests[kind+" table"], kind)
	}
}

func TestNewFigure(t *testing.T) {
	var hundred []time.Duration
	for n := range 100 {
		hundred = append(hundred, time.Duration(100-n)*time.Millisecond)
	}
	require.Equal(t, load.Figure{Name: "get", Clients: 2, Requests: 100, PerSecond: 50, P50: 50, P99: 99}, load.NewFigure("get", 2, 2*time.Second, hundred))
	require.Equal(t, load.Figure{Name: "get", Clients: 1, Requests: 1, PerSecond: 1, P50: 1000, P99: 1000}, load.NewFigure("get", 1, time.Second, []time.Duration{time.Second}))
	require.Equal(t, load.Figure{Name: "get", Clients: 1}, load.NewFigure("get", 1, 0, nil))
}
