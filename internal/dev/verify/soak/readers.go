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

func newReader(e *environment, id int) *reader {
	return &reader{environment: e, id: id, rng: e.newRand(20, id), endpoints: e.newEndpoints(fmt.Sprint("reader-", id))}
}

// readOnce sends a random read request and records the result.
func (r *reader) readOnce() {
	op := read{reader: r.id, endpoint: r.rng.IntN(len(r.endpoints)), kind: r.kinds[r.rng.IntN(len(r.kinds))]}
	if r.rng.IntN(2) == 0 {
		op.namespace = groupNamespace(r.rng.IntN(groupCount))
	}
	media := harness.JSON
	if !op.kind.Custom && r.rng.IntN(2) == 0 {
		media = harness.Protobuf
	}
	enc := harness.Encoding{Kind: op.kind, MediaType: media}
	op.minRevision, op.call, op.viewResets = r.newestRevision.Load(), r.clock.Add(1), r.faults.viewResets.Load()
	var seen bool
	switch r.rng.IntN(6) {
	case 0:
		seen = r.list(&op, enc, url.Values{"limit": {strconv.Itoa(1 + r.rng.IntN(5))}})
	case 1:
		seen = r.listNotOlderThan(&op, enc)
	case 2:
		seen = r.listExact(&op, enc)
	case 3, 4:
		seen = r.get(&op, enc)
	default:
		seen = r.streamList(&op, enc)
	}
	if !seen {
		return
	}
	op.returned, op.maxRevision, op.sameView = r.clock.Add(1), r.revision(), op.viewResets == r.faults.viewResets.Load()
	r.counter.Add("reader's " + op.description)
	r.newest = max(r.newest, op.revision)
	r.reads = append(r.reads, op)
}

// list reads all pages of a list. They must be of the same revision, unless a page fails with 410.
func (r *reader) list(op *read, enc harness.Encoding, query url.Values) bool {
	op.description = "list " + query.Encode()
	path := op.kind.CollectionPath(op.namespace)
	for {
		page, code, err := r.endpoints[op.endpoint].List(r.t, enc, path, query)
		if err != nil {
			r.errorf("unreadable: %s %s: %v", path, query.Encode(), err)
		}
		if code != http.StatusOK {
			r.checkFailure(path, query, code)
			return false
		}
		if op.revision != 0 && page.Revision != op.revision {
			r.errorf("inconsistent pages: one of %s is at %d, the first was at %d", path, page.Revision, op.revision)
		}
		op.revision, op.objects = page.Revision, append(op.objects, page.Objects...)
		if page.Continue == "" {
			return true
		}
		query = url.Values{"continue": {page.Continue}, "limit": {query.Get("limit")}}
	}
}

// checkFailure records a violation if the code is neither from a fault nor from a view that lags.
func (r *reader) checkFailure(path string, query url.Values, code int) {
	lost, undone := expectedFailure(code)
	if code != 0 && !lost && !undone && code != http.StatusGone {
		r.errorf("unexpected %d: %s %s", code, path, query.Encode())
	}
}

// listNotOlderThan reads a list that may be stale, but not older than the resourceVersion of the
// request.
func (r *reader) listNotOlderThan(op *read, enc harness.Encoding) bool {
	query := url.Values{"resourceVersion": {"0"}}
	if r.rng.IntN(2) == 0 && r.newest > 0 {
		query = url.Values{"resourceVersion": {strconv.FormatUint(r.newest, 10)}, "resourceVersionMatch": {"NotOlderThan"}}
	}
	r.setMinRevision(op, query)
	return r.list(op, enc, query)
}

// setMinRevision sets the oldest revision that the response may have. The server, unlike the
// replica, returns the newest state.
func (r *reader) setMinRevision(op *read, query url.Values) {
	if op.endpoint == 1 {
		op.mayLag, op.minRevision = true, 0
		if rev, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64); err == nil {
			op.minRevision = rev
		}
	}
}

// listExact reads a list at an older revision.
func (r *reader) listExact(op *read, enc harness.Encoding) bool {
	rev := r.roundStart.Load() + r.rng.Uint64N(op.minRevision-r.roundStart.Load()+1)
	query := url.Values{"resourceVersion": {strconv.FormatUint(rev, 10)}, "resourceVersionMatch": {"Exact"}}
	if r.rng.IntN(2) == 0 {
		query.Set("limit", "3")
	}
	if !r.list(op, enc, query) {
		return false
	}
	if op.description = "exact list"; op.revision != rev {
		r.errorf("wrong list: revision %d was requested, it is of %d", rev, op.revision)
	}
	op.minRevision = rev
	return true
}

// get reads one object, which may be stale.
func (r *reader) get(op *read, enc harness.Encoding) bool {
	op.namespace, op.name, op.description = groupNamespace(r.rng.IntN(groupCount)), []string{"a", "b", "c"}[r.rng.IntN(3)], "get"
	query := url.Values{}
	if r.rng.IntN(2) == 0 {
		query.Set("resourceVersion", "0")
		r.setMinRevision(op, query)
		op.description = "get at 0"
	}
	path := op.kind.CollectionPath(op.namespace) + "/" + op.name
	code, body, err := r.endpoints[op.endpoint].Get(r.t, enc.MediaType, path, query)
	switch {
	case err != nil:
		return false
	case code == http.StatusNotFound:
		return true
	case code != http.StatusOK:
		r.checkFailure(path, query, code)
		return false
	}
	obj, _, err := enc.Decode(body)
	var seen harness.Object
	if err == nil {
		seen, err = harness.ObjectFrom(obj)
	}
	if err != nil {
		r.errorf("unreadable: %s: %v", path, err)
		return false
	}
	op.objects, op.revision = []harness.Object{seen}, seen.Revision
	return true
}

// streamList reads a list as the initial events of a watch.
func (r *reader) streamList(op *read, enc harness.Encoding) bool {
	query := url.Values{"watch": {"1"}, "sendInitialEvents": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersionMatch": {"NotOlderThan"}}
	if op.description = "streaming list"; r.rng.IntN(2) == 0 {
		query.Set("resourceVersion", "0")
		r.setMinRevision(op, query)
		op.description = "streaming list at 0"
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Second) // the view may be frozen
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.endpoints[op.endpoint].URL+op.kind.CollectionPath(op.namespace)+"?"+query.Encode(), nil)
	require.NoError(r.t, err)
	req.Header.Set("Accept", enc.MediaType)
	resp, err := r.endpoints[op.endpoint].Client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		r.checkFailure(req.URL.Path, query, resp.StatusCode)
		return false
	}
	next := enc.EventReader(resp.Body)
	for {
		frame, err := next()
		switch {
		case err != nil || frame.Type == watch.Error && (strings.Contains(frame.Message, injectedMessage) || op.endpoint == 1 && frame.Code == http.StatusGone):
			return false // a lagging view cannot continue once history is forgotten
		case frame.InitialEventsEnd:
			op.revision = frame.Revision
			return true
		case frame.Type != watch.Added:
			r.errorf("wrong initial events of %s: %v", req.URL.Path, frame)
			return false
		}
		op.objects = append(op.objects, frame.Object)
	}
}
