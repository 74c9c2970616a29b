package fakeapi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
)

// sentry is a watcher that lives over all the rounds: it resumes when it was cut off, goes
// from door to door, and lists again after a 410.
type sentry struct {
	*soak
	rng       *rand.Rand
	tongue    tongue
	namespace string
	doors     []door
	name      string
	stop      context.CancelFunc
	done      chan struct{}

	mu     sync.Mutex
	life   life   // of this round
	pos    uint64 // what it can resume from,
	known  bool   // if it knows that
	behind bool   // it watches a view that may be
}

func newSentry(s *soak, id int) *sentry {
	ctx, stop := context.WithCancel(s.t.Context())
	o := &sentry{soak: s, rng: s.random(40, id), stop: stop, done: make(chan struct{}), doors: s.doors(fmt.Sprint("sentry-", id))}
	o.pos, o.known = s.since.Load(), id%2 == 0
	o.tongue = tongue{s.kinds[id%len(s.kinds)], jsonMedia}
	if !o.tongue.kind.custom && o.rng.IntN(2) == 0 {
		o.tongue.media = protobufMedia
	}
	if id%4 == 0 {
		o.namespace = soakNamespace(id % soakGroups)
	}
	o.name = fmt.Sprintf("sentry %d of %s as %s", id, o.path(), o.tongue.media)
	o.life = life{name: o.name, selects: func(t thing) bool {
		return strings.HasPrefix(t.key, o.namespace) // all names of namespaces are of one length
	}}
	go func() {
		defer close(o.done)
		for ctx.Err() == nil {
			o.request(ctx)
		}
	}()
	return o
}

// close ends the watch, and returns when it has ended.
func (o *sentry) close() {
	o.stop()
	<-o.done
}

func (o *sentry) path() string { return o.tongue.kind.collection(o.namespace) }

// at tells up to where everything was seen, and whether that is up to a revision.
func (o *sentry) at(rev uint64) (pos uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pos, o.known && o.pos >= rev
}

// take gives what was seen in this round, and begins the next.
func (o *sentry) take() life {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.life
	o.life.spans = []span{{from: o.pos, bookmarks: true}}
	return l
}

// pause waits a little, as long as there is trouble.
func (o *sentry) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(1+o.rng.IntN(20)) * time.Millisecond):
	}
}

// request is one watch, with a list before it or without.
func (o *sentry) request(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	through := o.rng.IntN(len(o.doors))
	d := o.doors[through]
	o.mu.Lock()
	o.behind = through == 1
	s := span{from: o.pos, initial: !o.known, bookmarks: true}
	o.mu.Unlock()
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}}
	switch {
	case !s.initial:
		query.Set("resourceVersion", strconv.FormatUint(s.from, 10))
	case o.rng.IntN(2) == 0:
		if !o.relist(d, &s) {
			o.pause(ctx)
			return
		}
		query.Set("resourceVersion", strconv.FormatUint(o.pos, 10))
	default:
		o.initial(query, &s)
	}
	if o.rng.IntN(3) == 0 {
		query.Set("timeoutSeconds", "1")
	}
	defer o.cutter(cancel)()
	if !o.watch(ctx, d, query, s) {
		o.pause(ctx)
	}
}

// initial asks for a streaming list: of what is newest, of what is not older than it has
// seen, or of whatever there is.
func (o *sentry) initial(query url.Values, s *span) {
	query.Set("sendInitialEvents", "true")
	query.Set("resourceVersionMatch", "NotOlderThan")
	switch o.rng.IntN(3) {
	case 0:
		s.atLeast = max(o.soak.told.Load(), o.since.Load())
	case 1:
		s.atLeast = max(o.pos, o.since.Load())
		query.Set("resourceVersion", strconv.FormatUint(o.pos, 10))
	default:
		s.atLeast = o.since.Load()
		query.Set("resourceVersion", "0")
	}
}

// relist reads a list to watch from, as clients without streaming lists do. What it shows
// is noted like the initial events of a watch.
func (o *sentry) relist(d door, s *span) bool {
	query, atLeast := url.Values{}, o.soak.told.Load()
	if o.rng.IntN(2) == 0 {
		query.Set("resourceVersion", "0")
		atLeast = 0
	}
	list, code, err := d.list(o.t, o.tongue, o.path(), query)
	if err != nil {
		o.errorf("%s: unreadable list: %v", o.name, err)
	}
	if code != http.StatusOK || err != nil {
		return false
	}
	s.atLeast = max(atLeast, o.since.Load())
	for _, item := range list.things {
		s.seen = append(s.seen, glimpse{event: watch.Added, thing: item})
	}
	s.seen = append(s.seen, glimpse{event: watch.Bookmark, ends: true, thing: thing{rev: list.rev}})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pos, o.known = list.rev, true
	return true
}

// cutter turns away from the watch after a while, now and then, as long as there is trouble.
func (o *sentry) cutter(cancel func()) (stop func()) {
	if o.rng.IntN(2) == 0 {
		return func() {}
	}
	timer := time.AfterFunc(time.Duration(o.rng.IntN(200))*time.Millisecond, func() {
		if !o.calm.Load() {
			cancel()
		}
	})
	return func() { timer.Stop() }
}

// watch reads one watch to its end; false if it was refused.
func (o *sentry) watch(ctx context.Context, d door, query url.Values, s span) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+o.path()+"?"+query.Encode(), nil)
	require.NoError(o.t, err)
	r.Header.Set("Accept", o.tongue.media)
	resp, err := d.http.Do(r)
	o.mu.Lock()
	o.life.spans = append(o.life.spans, s)
	o.mu.Unlock()
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		if lost, undone := excused(resp.StatusCode); !lost && !undone {
			o.errorf("%s: undeserved %s: %s", o.name, resp.Status, query.Encode())
		}
		return false
	}
	next := o.tongue.frames(resp.Body)
	for {
		g, err := next()
		if errors.Is(err, errGarbled) {
			o.errorf("%s: %v", o.name, err)
		}
		if err != nil || !o.note(g) {
			return err == nil
		}
	}
}

// note notes a frame; false if it is the last.
func (o *sentry) note(g glimpse) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total.add("sentry's " + string(g.event))
	if g.event == watch.Error {
		begun := o.known
		o.known = false
		switch {
		case strings.Contains(g.message, staged):
			return false // of a fault; to go on elsewhere is all that it means
		case !begun && o.behind && g.code == http.StatusGone:
			return false // a view that is behind has nothing to go on from once all is forgotten
		}
	}
	now := &o.life.spans[len(o.life.spans)-1]
	now.seen = append(now.seen, g)
	if g.event == watch.Error {
		return false
	}
	if o.known = o.known || g.ends; o.known {
		o.pos = max(o.pos, g.rev)
	}
	return true
}

// witnessed holds the lives of all sentries against the records.
func witnessed(records map[string]*chronicle, lives map[string][]life) (complaints []string) {
	for _, name := range slices.Sorted(maps.Keys(lives)) {
		for _, l := range lives[name] {
			complaints = append(complaints, records[name].check(l)...)
		}
	}
	return complaints
}
