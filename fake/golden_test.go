package fakeapi_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/internal/cmd/golden"
	"example.com/fakeapi/internal/cmd/golden/recordings"
	"example.com/fakeapi/internal/cmd/httpdiff"
)

// recordedFiles returns a directory of the recordings of a real API server.
func recordedFiles(t *testing.T, dir string) fs.FS {
	t.Helper()
	files, err := recordings.Open(dir)
	require.NoError(t, err)
	return files
}

// knownDifference lists the steps of a recording that the server answers differently.
type knownDifference struct {
	steps  []int // the steps that differ
	reason string
}

// knownDifferences are expected, since the recorded server was not complete. A step that is listed
// here and does not differ fails the test.
var knownDifferences = map[string]knownDifference{
	"crd-lifecycle":    {[]int{6, 10}, "the recorded program had another name, which is the manager of the status of CRDs"},
	"discovery":        {[]int{2, 3, 5, 10, 11, 13, 14, 23, 24}, "the recorded server had other types and groups"},
	"err-404-path":     {[]int{20, 21, 22}, "the recorded server had other paths and resources"},
	"err-422-meta--cm": {[]int{9, 10}, "the recorded server did not require a domain of the finalizers of ConfigMaps"},
	"openapi":          {[]int{1, 4, 5, 6, 12}, "the recorded documents have upstream descriptions"},
}

// defaults are the fields of Pods and Deployments, and their values as JSON, that the server sets.
// The recorded server did not, so that its responses lack them.
var defaults = map[string][]string{
	"dnsPolicy":                     {`"ClusterFirst"`},
	"enableServiceLinks":            {`true`},
	"imagePullPolicy":               {`"IfNotPresent"`, `"Always"`},
	"maxUnavailable":                {`"25%"`},
	"progressDeadlineSeconds":       {`600`},
	"qosClass":                      {`"BestEffort"`},
	"replicas":                      {`1`},
	"restartPolicy":                 {`"Always"`},
	"revisionHistoryLimit":          {`10`},
	"schedulerName":                 {`"default-scheduler"`},
	"securityContext":               {`{}`},
	"terminationGracePeriodSeconds": {`30`},
	"terminationMessagePath":        {`"/dev/termination-log"`},
	"terminationMessagePolicy":      {`"File"`},
}

// invalidTemplate is a case with a Deployment that does not select its own pods. The recorded
// server did not validate Deployments.
const invalidTemplate = "patch-strategic--deploy"

// isDefault reports whether a difference is that the server set a default, or that the fields of a
// field manager have it.
func isDefault(d httpdiff.Difference) bool {
	if d.Left != "" || d.Note != "" {
		return false
	}
	key := d.At[strings.LastIndexByte(d.At, '.')+1:]
	if name, ok := strings.CutPrefix(key, "f:"); ok {
		return defaults[name] != nil && d.Right == `{}` && strings.Contains(d.At, "managedFields[")
	}
	return slices.Contains(defaults[key], d.Right)
}

// player returns a player of cases with a server.
func player(srv *fakeapi.Server) golden.Player {
	return golden.Player{
		BaseURL:   srv.URL(),
		Client:    srv.Client(),
		Compact:   func(context.Context) error { srv.Compact(); return nil },
		Namespace: "replayed",
	}
}

// play plays a case and returns the result.
func play(t *testing.T, p golden.Player, c golden.Case) golden.Result {
	limit := time.Duration(c.TookMs)*time.Millisecond + 30*time.Second
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return p.Play(ctx, c)
}

// TestGolden replays each recording with a new server.
func TestGolden(t *testing.T) { replayAll(t, "v1.37", knownDifferences, replay) }

// replayAll replays each recording of a directory on virtual time and compares the results.
func replayAll(t *testing.T, dir string, known map[string]knownDifference, replay func(*testing.T, golden.Case) golden.Result) {
	cases, err := golden.Load(recordedFiles(t, dir))
	require.NoError(t, err)
	recorded := map[string]bool{}
	for _, c := range cases {
		recorded[c.Name] = true
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { checkResult(t, known[c.Name], replay(t, c)) })
		})
	}
	for name := range known {
		require.True(t, recorded[name], "%s has known differences but no recording", name)
	}
}

// fixturesFor returns the manifests of a case in a directory of the recordings.
func fixturesFor(t *testing.T, dir string, c golden.Case) fs.FS {
	files := fstest.MapFS{}
	for _, name := range c.CRDs {
		body, err := fs.ReadFile(recordedFiles(t, dir), name)
		require.NoError(t, err)
		files[name] = &fstest.MapFile{Data: body}
	}
	return files
}

// replay replays a case with a new server.
func replay(t *testing.T, c golden.Case) golden.Result {
	// The recorded server had neither controllers nor all admission plugins.
	options := []fakeapi.Option{
		fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers(), fakeapi.WithManifests(fixturesFor(t, "v1.37", c)),
		fakeapi.WithoutAdmissionPlugins("Priority", "DefaultTolerationSeconds"),
	}
	if c.Name == invalidTemplate {
		options = append(options, fakeapi.WithoutValidation())
	}
	return play(t, player(fakeapi.Start(t, options...)), c)
}

// checkResult reports differences that are not known, and known differences that do not occur.
func checkResult(t *testing.T, known knownDifference, result golden.Result) {
	if result.Err != nil {
		t.Errorf("replay failed: %v", result.Err)
	}
	differing := map[int]bool{}
	for _, s := range result.Differing() {
		s.Differences = slices.DeleteFunc(s.Differences, isDefault)
		if len(s.Differences) == 0 {
			continue
		}
		differing[s.Number] = true
		if !slices.Contains(known.steps, s.Number) {
			t.Errorf("step %d %s:\n\t%s", s.Number, s.Name, strings.Join(s.Differences.Lines(), "\n\t"))
		}
	}
	for _, n := range known.steps {
		if !differing[n] {
			t.Errorf("step %d does not differ; remove it from knownDifferences", n)
		}
	}
}
