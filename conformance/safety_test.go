package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// Limits of the load that a run causes.
const (
	maxConcurrent = 10      // requests of one case at the same time, with watches
	maxCreated    = 30      // objects of one case
	maxBodySize   = 4 << 20 // bytes of one body
)

// writeRequest is a request that could change something.
type writeRequest struct {
	id           string // of the case
	method, path string
	query        url.Values
	body         []byte
}

func (w writeRequest) String() string {
	return fmt.Sprintf("%s: %s %s?%s", w.id, w.method, w.path, w.query.Encode())
}

// requestLog records the requests of a run.
type requestLog struct {
	mu                        sync.Mutex // guards the fields below
	writes                    []writeRequest
	created                   map[string]int // by case
	concurrent, maxConcurrent map[string]int // requests at the same time, by case
}

// wrap returns a transport that records requests.
func (l *requestLog) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripFunc(func(r *http.Request) (*http.Response, error) {
		var body []byte
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body) // the body is that of the suite
			r = r.Clone(r.Context())
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		id := conformance.RequestPurposeFrom(r.Context()).Case
		l.recordRequest(writeRequest{id: id, method: r.Method, path: r.URL.Path, query: r.URL.Query(), body: body})
		response, err := next.RoundTrip(r)
		l.recordResponse(id, err == nil && response.StatusCode == http.StatusCreated)
		return response, err
	})
}

func (l *requestLog) recordRequest(w writeRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.concurrent[w.id]++
	l.maxConcurrent[w.id] = max(l.maxConcurrent[w.id], l.concurrent[w.id])
	if w.method != http.MethodGet && w.method != http.MethodHead {
		l.writes = append(l.writes, w)
	}
}

func (l *requestLog) recordResponse(id string, created bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.concurrent[id]--
	if created {
		l.created[id]++
	}
}

// checkSafe returns an error if a write of the run with this ID could reach objects of others,
// whether the server is correct or not. Dry runs, reviews and selectors that match nothing change
// nothing.
func (w writeRequest) checkSafe(run string) error {
	var o metav1.PartialObjectMetadata
	_ = json.Unmarshal(w.body, &o) // the paths of bodies that are not JSON are in namespaces
	group := `(?:[a-z0-9-]+\.)?` + run + `\.conformance\.example\.com`
	switch {
	case w.query.Get("dryRun") == "All":
	case regexp.MustCompile(`^/apis/auth(orization|entication)\.k8s\.io/v1/(namespaces/[^/]+/)?[a-z]+reviews$`).MatchString(w.path):
	case strings.Contains(w.path, "/namespaces/conformance-"+run+"-"):
	case regexp.MustCompile(`^/apis/` + group + `/`).MatchString(w.path):
	case regexp.MustCompile(`^` + crdPath + `/[a-z]+\.` + group + `(/status)?$`).MatchString(w.path):
	case w.method == http.MethodDelete && strings.Contains(w.query.Get("labelSelector"), "conformance-absent=") && strings.Contains(w.query.Get("labelSelector"), run):
	case w.method == http.MethodPost && w.path == "/api/v1/namespaces" && strings.HasPrefix(o.Name+o.GenerateName, "conformance-"+run+"-"):
	case w.isSafePolicy("conformance-" + run + "-"):
	case strings.HasPrefix(w.path, configPath):
		return w.checkSafeConfig(run)
	case w.isSafeGrant("conformance-" + run + "-"):
	case regexp.MustCompile(`^(/api/v1/namespaces)?/conformance-` + run + `-[^/]*$`).MatchString(w.path): // its own, or a path that is not served
	case w.method == http.MethodPost && w.path == crdPath && regexp.MustCompile(`^[A-Za-z]+\.`+group+`$`).MatchString(o.Name):
	default:
		return fmt.Errorf("the write is outside of the run %s: %q", run, excerpt(w.body))
	}
	return nil
}

// checkSafeConfig returns an error if a write of a configuration of webhooks could reach objects of
// others: each webhook needs a selector with the run, and each rule a group of the run, the scope
// Namespaced, or only namespaced resources and Namespaces, unless there is an objectSelector.
func (w writeRequest) checkSafeConfig(run string) error {
	var config struct {
		Metadata metav1.ObjectMeta
		Webhooks []struct {
			NamespaceSelector, ObjectSelector metav1.LabelSelector
			Rules                             []struct {
				APIGroups, Resources []string
				Scope                string
			}
		}
	}
	name := w.path[strings.LastIndex(w.path, "/")+1:]
	if err := json.Unmarshal(w.body, &config); err == nil && w.method == http.MethodPost {
		name = config.Metadata.Name
	}
	if !strings.HasPrefix(name, "conformance-"+run+"-") {
		return fmt.Errorf("the configuration %s is not of the run %s", name, run)
	}
	for _, hook := range config.Webhooks {
		if strings.Contains(hook.ObjectSelector.String(), run) {
			continue
		}
		for _, rule := range hook.Rules {
			only := !slices.ContainsFunc(rule.Resources, func(one string) bool {
				resource, _, _ := strings.Cut(one, "/")
				return !slices.Contains([]string{"configmaps", "secrets", "namespaces", "deployments"}, resource)
			})
			switch {
			case len(rule.APIGroups) == 1 && strings.HasSuffix(rule.APIGroups[0], run+".conformance.example.com"):
			case strings.Contains(hook.NamespaceSelector.String(), run) && (only || rule.Scope == "Namespaced"):
			default:
				return fmt.Errorf("a webhook of %s could be called for objects of others: %+v", name, hook)
			}
		}
	}
	return nil
}

const configPath = "/apis/admissionregistration.k8s.io/v1/"

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func excerpt(body []byte) string { return string(body[:min(len(body), 200)]) }

// listAll returns the paths of all objects, except for terminating namespaces, which controllers
// remove.
func listAll(t *testing.T, config conformance.Config) (paths []string) {
	t.Helper()
	var groups metav1.APIGroupList
	getJSON(t, config, "/apis", &groups)
	roots := []string{"/api/v1"}
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			roots = append(roots, "/apis/"+version.GroupVersion)
		}
	}
	for _, root := range roots {
		var resources metav1.APIResourceList
		getJSON(t, config, root, &resources)
		for _, one := range resources.APIResources {
			if !slices.Contains(one.Verbs, "list") {
				continue
			}
			var list metav1.PartialObjectMetadataList
			getJSON(t, config, root+"/"+one.Name, &list)
			for _, o := range list.Items {
				if one.Name != "namespaces" || o.DeletionTimestamp == nil {
					paths = append(paths, root+"/"+one.Name+" "+o.Namespace+"/"+o.Name)
				}
			}
		}
	}
	require.NotEmpty(t, paths)
	return paths
}

func getJSON(t *testing.T, config conformance.Config, path string, into any) {
	t.Helper()
	response, err := config.Client.Get(config.BaseURL + path)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	require.Equal(t, http.StatusOK, response.StatusCode, path)
	require.NoError(t, json.NewDecoder(response.Body).Decode(into))
}

// TestRunChangesOnlyItsOwnObjects checks that a run is safe on a cluster that is used by others:
// each write is to an object of the run, the load is limited, and afterwards the server is as
// before, though only the suite removes objects there. TestFakeWithInMemoryNetwork checks the same
// for the cases about users.
func TestRunChangesOnlyItsOwnObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		requireSafe(t, configInMemory(t, fakeapi.WithoutControllers(), fakeapi.WithoutTimeline(), fakeapi.WithFeature(fakeapi.CBOR, true)))
	})
}

// requireSafe runs the suite on an unused server.
func requireSafe(t *testing.T, config conformance.Config) conformance.Report {
	t.Helper()
	config.Patience = 5 * time.Minute
	before := listAll(t, config)
	l := &requestLog{created: map[string]int{}, concurrent: map[string]int{}, maxConcurrent: map[string]int{}}
	watched := config
	watched.Client = &http.Client{Transport: l.wrap(config.Client.Transport)}
	if config.UnprivilegedClient != nil {
		watched.UnprivilegedClient = &http.Client{Transport: l.wrap(config.UnprivilegedClient.Transport)}
	}
	report, err := conformance.Execute(t.Context(), watched)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.NotEmpty(t, l.writes)
	for _, one := range l.writes {
		assert.NoError(t, one.checkSafe(report.RunID), one)
		assert.LessOrEqual(t, len(one.body), maxBodySize, one)
	}
	for id, n := range l.maxConcurrent {
		assert.LessOrEqual(t, n, maxConcurrent, id)
	}
	for id, n := range l.created {
		assert.LessOrEqual(t, n, maxCreated, id)
	}
	require.Equal(t, before, listAll(t, config))
	return report
}
