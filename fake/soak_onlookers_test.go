package fakeapi_test

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
)

// onlooker is a client that reads, also what may be old, through either door.
type onlooker struct {
	*soak
	id      int
	rng     *rand.Rand
	doors   []door
	glances []glance
	newest  uint64 // the newest resourceVersion that it has seen
}

func newOnlooker(s *soak, id int) *onlooker {
	return &onlooker{soak: s, id: id, rng: s.random(20, id), doors: s.doors(fmt.Sprint("onlooker-", id))}
}

// look reads once, somehow.
func (o *onlooker) look() {
	g := glance{id: o.id, door: o.rng.IntN(len(o.doors)), kind: o.kinds[o.rng.IntN(len(o.kinds))]}
	if o.rng.IntN(2) == 0 {
		g.namespace = soakNamespace(o.rng.IntN(soakGroups))
	}
	media := jsonMedia
	if !g.kind.custom && o.rng.IntN(2) == 0 {
		media = protobufMedia
	}
	l := tongue{g.kind, media}
	g.atLeast, g.call, g.era = o.told.Load(), o.clock.Add(1), o.trouble.era.Load()
	var seen bool
	switch o.rng.IntN(6) {
	case 0:
		seen = o.list(&g, l, url.Values{"limit": {strconv.Itoa(1 + o.rng.IntN(5))}})
	case 1:
		seen = o.old(&g, l)
	case 2:
		seen = o.exact(&g, l)
	case 3, 4:
		seen = o.get(&g, l)
	default:
		seen = o.stream(&g, l)
	}
	if !seen {
		return
	}
	g.back, g.newest, g.same = o.clock.Add(1), o.revision(), g.era == o.trouble.era.Load()
	o.total.add("onlooker's " + g.what)
	o.newest = max(o.newest, g.rev)
	o.glances = append(o.glances, g)
}

// list reads page after page; what is read is one state, or it ends with a 410.
func (o *onlooker) list(g *glance, l tongue, query url.Values) bool {
	g.what = "list " + query.Encode()
	path := g.kind.collection(g.namespace)
	for {
		page, code, err := o.doors[g.door].list(o.t, l, path, query)
		if err != nil {
			o.errorf("unreadable: %s %s: %v", path, query.Encode(), err)
		}
		if code != http.StatusOK {
			o.refused(path, query, code)
			return false
		}
		if g.rev != 0 && page.rev != g.rev {
			o.errorf("torn: a page of %s is at %d, the first was at %d", path, page.rev, g.rev)
		}
		g.rev, g.seen = page.rev, append(g.seen, page.things...)
		if page.next == "" {
			return true
		}
		query = url.Values{"continue": {page.next}, "limit": {query.Get("limit")}}
	}
}

// refused complains about an answer that neither a fault nor an old view explains.
func (o *onlooker) refused(path string, query url.Values, code int) {
	lost, undone := excused(code)
	if code != 0 && !lost && !undone && code != http.StatusGone {
		o.errorf("undeserved %d: %s %s", code, path, query.Encode())
	}
}

// old reads a list that may be old, but not older than it asks for.
func (o *onlooker) old(g *glance, l tongue) bool {
	query := url.Values{"resourceVersion": {"0"}}
	if o.rng.IntN(2) == 0 && o.newest > 0 {
		query = url.Values{"resourceVersion": {strconv.FormatUint(o.newest, 10)}, "resourceVersionMatch": {"NotOlderThan"}}
	}
	o.mayBeOld(g, query)
	return o.list(g, l, query)
}

// mayBeOld says how old an answer may be: of the server, which knows all, it is new.
func (o *onlooker) mayBeOld(g *glance, query url.Values) {
	if g.door == 1 {
		g.old, g.atLeast = true, 0
		if rev, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64); err == nil {
			g.atLeast = rev
		}
	}
}

// exact reads a list of the past.
func (o *onlooker) exact(g *glance, l tongue) bool {
	rev := o.since.Load() + o.rng.Uint64N(g.atLeast-o.since.Load()+1)
	query := url.Values{"resourceVersion": {strconv.FormatUint(rev, 10)}, "resourceVersionMatch": {"Exact"}}
	if o.rng.IntN(2) == 0 {
		query.Set("limit", "3")
	}
	if !o.list(g, l, query) {
		return false
	}
	if g.what = "exact list"; g.rev != rev {
		o.errorf("wrong list: asked for was %d, it is of %d", rev, g.rev)
	}
	g.atLeast = rev
	return true
}

// get reads one object, new or old.
func (o *onlooker) get(g *glance, l tongue) bool {
	g.namespace, g.name, g.what = soakNamespace(o.rng.IntN(soakGroups)), []string{"a", "b", "c"}[o.rng.IntN(3)], "get"
	query := url.Values{}
	if o.rng.IntN(2) == 0 {
		query.Set("resourceVersion", "0")
		o.mayBeOld(g, query)
		g.what = "get at 0"
	}
	path := g.kind.collection(g.namespace) + "/" + g.name
	code, body, err := o.doors[g.door].get(o.t, l.media, path, query)
	switch {
	case err != nil:
		return false
	case code == http.StatusNotFound:
		return true
	case code != http.StatusOK:
		o.refused(path, query, code)
		return false
	}
	obj, _, err := l.decode(body)
	var seen thing
	if err == nil {
		seen, err = thingOf(obj)
	}
	if err != nil {
		o.errorf("unreadable: %s: %v", path, err)
		return false
	}
	g.seen, g.rev = []thing{seen}, seen.rev
	return true
}

// stream reads a list as the initial events of a watch.
func (o *onlooker) stream(g *glance, l tongue) bool {
	query := url.Values{"watch": {"1"}, "sendInitialEvents": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersionMatch": {"NotOlderThan"}}
	if g.what = "streaming list"; o.rng.IntN(2) == 0 {
		query.Set("resourceVersion", "0")
		o.mayBeOld(g, query)
		g.what = "streaming list at 0"
	}
	ctx, cancel := context.WithTimeout(o.t.Context(), 5*time.Second) // a view may be frozen
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.doors[g.door].url+g.kind.collection(g.namespace)+"?"+query.Encode(), nil)
	require.NoError(o.t, err)
	r.Header.Set("Accept", l.media)
	resp, err := o.doors[g.door].http.Do(r)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		o.refused(r.URL.Path, query, resp.StatusCode)
		return false
	}
	next := l.frames(resp.Body)
	for {
		frame, err := next()
		switch {
		case err != nil || frame.event == watch.Error && (strings.Contains(frame.message, staged) || g.door == 1 && frame.code == http.StatusGone):
			return false // a view that is behind has nothing to go on from once all is forgotten
		case frame.ends:
			g.rev = frame.rev
			return true
		case frame.event != watch.Added:
			o.errorf("wrong initial events of %s: %v", r.URL.Path, frame)
			return false
		}
		g.seen = append(g.seen, frame.thing)
	}
}
