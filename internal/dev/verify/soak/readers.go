package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// reader is a client that reads from the server or the replica. Some of its reads may be stale.
type reader struct {
	*environment
	id        int
	rng       *rand.Rand
	endpoints []harness.Endpoint
	reads     []read
	newest    uint64 // the newest resourceVersion that it has seen
}

func newReader(s *environment, id int) *reader {
	return &reader{environment: s, id: id, rng: s.newRand(20, id), endpoints: s.newEndpoints(fmt.Sprint("reader-", id))}
}

// readOnce sends a random read request and records the result.
func (o *reader) readOnce() {
	g := read{reader: o.id, endpoint: o.rng.IntN(len(o.endpoints)), kind: o.kinds[o.rng.IntN(len(o.kinds))]}
	if o.rng.IntN(2) == 0 {
		g.namespace = groupNamespace(o.rng.IntN(groupCount))
	}
	media := harness.JSON
	if !g.kind.Custom && o.rng.IntN(2) == 0 {
		media = harness.Protobuf
	}
	l := harness.Encoding{Kind: g.kind, MediaType: media}
	g.minRevision, g.call, g.viewResets = o.newestRevision.Load(), o.clock.Add(1), o.faults.viewResets.Load()
	var seen bool
	switch o.rng.IntN(6) {
	case 0:
		seen = o.list(&g, l, url.Values{"limit": {strconv.Itoa(1 + o.rng.IntN(5))}})
	case 1:
		seen = o.listNotOlderThan(&g, l)
	case 2:
		seen = o.listExact(&g, l)
	case 3, 4:
		seen = o.get(&g, l)
	default:
		seen = o.streamList(&g, l)
	}
	if !seen {
		return
	}
	g.returned, g.maxRevision, g.sameView = o.clock.Add(1), o.revision(), g.viewResets == o.faults.viewResets.Load()
	o.counter.Add("reader's " + g.description)
	o.newest = max(o.newest, g.revision)
	o.reads = append(o.reads, g)
}

// list reads all pages of a list. They must be of the same revision, unless a page fails with 410.
func (o *reader) list(g *read, l harness.Encoding, query url.Values) bool {
	g.description = "list " + query.Encode()
	path := g.kind.CollectionPath(g.namespace)
	for {
		page, code, err := o.endpoints[g.endpoint].List(o.t, l, path, query)
		if err != nil {
			o.errorf("unreadable: %s %s: %v", path, query.Encode(), err)
		}
		if code != http.StatusOK {
			o.checkFailure(path, query, code)
			return false
		}
		if g.revision != 0 && page.Revision != g.revision {
			o.errorf("inconsistent pages: one of %s is at %d, the first was at %d", path, page.Revision, g.revision)
		}
		g.revision, g.objects = page.Revision, append(g.objects, page.Objects...)
		if page.Continue == "" {
			return true
		}
		query = url.Values{"continue": {page.Continue}, "limit": {query.Get("limit")}}
	}
}

// checkFailure records a violation if the code is neither from a fault nor from a view that lags.
func (o *reader) checkFailure(path string, query url.Values, code int) {
	lost, undone := expectedFailure(code)
	if code != 0 && !lost && !undone && code != http.StatusGone {
		o.errorf("unexpected %d: %s %s", code, path, query.Encode())
	}
}

// listNotOlderThan reads a list that may be stale, but not older than the resourceVersion of the
// request.
func (o *reader) listNotOlderThan(g *read, l harness.Encoding) bool {
	query := url.Values{"resourceVersion": {"0"}}
	if o.rng.IntN(2) == 0 && o.newest > 0 {
		query = url.Values{"resourceVersion": {strconv.FormatUint(o.newest, 10)}, "resourceVersionMatch": {"NotOlderThan"}}
	}
	o.setMinRevision(g, query)
	return o.list(g, l, query)
}

// setMinRevision sets the oldest revision that the response may have. The server, unlike the
// replica, returns the newest state.
func (o *reader) setMinRevision(g *read, query url.Values) {
	if g.endpoint == 1 {
		g.mayLag, g.minRevision = true, 0
		if rev, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64); err == nil {
			g.minRevision = rev
		}
	}
}

// listExact reads a list at an older revision.
func (o *reader) listExact(g *read, l harness.Encoding) bool {
	rev := o.roundStart.Load() + o.rng.Uint64N(g.minRevision-o.roundStart.Load()+1)
	query := url.Values{"resourceVersion": {strconv.FormatUint(rev, 10)}, "resourceVersionMatch": {"Exact"}}
	if o.rng.IntN(2) == 0 {
		query.Set("limit", "3")
	}
	if !o.list(g, l, query) {
		return false
	}
	if g.description = "exact list"; g.revision != rev {
		o.errorf("wrong list: revision %d was requested, it is of %d", rev, g.revision)
	}
	g.minRevision = rev
	return true
}

// get reads one object, which may be stale.
func (o *reader) get(g *read, l harness.Encoding) bool {
	g.namespace, g.name, g.description = groupNamespace(o.rng.IntN(groupCount)), []string{"a", "b", "c"}[o.rng.IntN(3)], "get"
	query := url.Values{}
	if o.rng.IntN(2) == 0 {
		query.Set("resourceVersion", "0")
		o.setMinRevision(g, query)
		g.description = "get at 0"
	}
	path := g.kind.CollectionPath(g.namespace) + "/" + g.name
	code, body, err := o.endpoints[g.endpoint].Get(o.t, l.MediaType, path, query)
	switch {
	case err != nil:
		return false
	case code == http.StatusNotFound:
		return true
	case code != http.StatusOK:
		o.checkFailure(path, query, code)
		return false
	}
	obj, _, err := l.Decode(body)
	var seen harness.Object
	if err == nil {
		seen, err = harness.ObjectFrom(obj)
	}
	if err != nil {
		o.errorf("unreadable: %s: %v", path, err)
		return false
	}
	g.objects, g.revision = []harness.Object{seen}, seen.Revision
	return true
}

// streamList reads a list as the initial events of a watch.
func (o *reader) streamList(g *read, l harness.Encoding) bool {
	query := url.Values{"watch": {"1"}, "sendInitialEvents": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersionMatch": {"NotOlderThan"}}
	if g.description = "streaming list"; o.rng.IntN(2) == 0 {
		query.Set("resourceVersion", "0")
		o.setMinRevision(g, query)
		g.description = "streaming list at 0"
	}
	ctx, cancel := context.WithTimeout(o.t.Context(), 5*time.Second) // the view may be frozen
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.endpoints[g.endpoint].URL+g.kind.CollectionPath(g.namespace)+"?"+query.Encode(), nil)
	require.NoError(o.t, err)
	r.Header.Set("Accept", l.MediaType)
	resp, err := o.endpoints[g.endpoint].Client.Do(r)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		o.checkFailure(r.URL.Path, query, resp.StatusCode)
		return false
	}
	next := l.EventReader(resp.Body)
	for {
		frame, err := next()
		switch {
		case err != nil || frame.Type == watch.Error && (strings.Contains(frame.Message, injectedMessage) || g.endpoint == 1 && frame.Code == http.StatusGone):
			return false // a lagging view cannot continue once history is forgotten
		case frame.InitialEventsEnd:
			g.revision = frame.Revision
			return true
		case frame.Type != watch.Added:
			o.errorf("wrong initial events of %s: %v", r.URL.Path, frame)
			return false
		}
		g.objects = append(g.objects, frame.Object)
	}
}
