package fakeapi_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
)

// viewpoint is what a watcher watches, and how it begins.
type viewpoint struct {
	namespace string // "" for all
	label     string // a label selector
	object    string // a metadata.name
	begin     string // "past", "any", "stream" or "stream after"
	bookmarks bool
	slow      bool
}

// viewpoints are all ways to watch, in random variants.
func viewpoints(w *world, rng *rand.Rand) []viewpoint {
	coin := func() bool { return rng.IntN(2) == 0 }
	return []viewpoint{
		{begin: "past", bookmarks: coin()},
		{begin: "past", bookmarks: true, slow: true},
		{begin: "any", bookmarks: coin()},
		{begin: "stream", bookmarks: coin(), namespace: "n"},
		{begin: "stream", bookmarks: true, label: "app=x", slow: coin()},
		{begin: "stream after", bookmarks: true, label: "app!=x"},
		{begin: "past", bookmarks: coin(), label: "app in (x,y)", namespace: "n-1"},
		{begin: "any", bookmarks: coin(), label: "app"},
		{begin: "past", bookmarks: coin(), object: "a"},
		{begin: "stream", bookmarks: true, object: "a-b", namespace: "o", label: "!app"},
	}
}

// observer is one of the watchers: it keeps a watch open, which is cut again
// and again, and notes what it sees.
type observer struct {
	*world
	viewpoint
	life
	rng    *rand.Rand
	media  string
	client *http.Client
	wire   *wire
	pos    uint64 // what it can resume from,
	known  bool   // if it has ever got to know that
}

func newObserver(w *world, v viewpoint, rng *rand.Rand) *observer {
	o := &observer{world: w, viewpoint: v, rng: rng, media: jsonMedia}
	if rng.IntN(2) == 0 {
		o.media = protobufMedia
	}
	config := w.srv.RESTConfig()
	o.wire = newWire(config)
	o.client = &http.Client{Transport: &http.Transport{DialContext: config.Dial}}
	selector, err := labels.Parse(v.label)
	require.NoError(w.t, err)
	o.selects = func(t thing) bool {
		namespace, name, _ := strings.Cut(t.key, "/")
		return (v.namespace == "" || v.namespace == namespace) && (v.object == "" || v.object == name) &&
			selector.Matches(labels.Set(t.labels))
	}
	o.name = v.begin + " " + o.path() + "?" + o.selectors().Encode() + " as " + o.media
	return o
}

func (o *observer) path() string {
	return o.kind.collection(o.namespace)
}

func (o *observer) selectors() url.Values {
	q := url.Values{}
	if o.label != "" {
		q.Set("labelSelector", o.label)
	}
	if o.object != "" {
		q.Set("fieldSelector", "metadata.name="+o.object)
	}
	return q
}

// live watches until the world ends.
func (o *observer) live() {
	o.pause(time.Duration(o.rng.IntN(1000)) * time.Millisecond)
	if o.begin == "past" {
		o.pos, o.known = o.since+o.rng.Uint64N(o.world.known()-o.since+1), true
	}
	for !o.over() {
		o.request()
	}
}

func (o *observer) over() bool {
	select {
	case <-o.finish:
		return true
	default:
		return false
	}
}

// pause lets time pass while there is trouble in the world.
func (o *observer) pause(d time.Duration) {
	select {
	case <-o.calm:
	case <-time.After(d):
	}
}

// request is one watch, from its opening to its end.
func (o *observer) request() {
	s := span{from: o.pos, initial: !o.known, bookmarks: o.bookmarks}
	query := o.query(&s)
	ctx, cancel := context.WithCancel(o.t.Context())
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-o.finish:
			cancel()
		case <-ended:
		}
	}()
	defer o.cutter(query, cancel).Stop()

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.srv.URL()+o.path()+"?"+query.Encode(), nil)
	require.NoError(o.t, err)
	r.Header.Set("Accept", o.media)
	resp, err := o.client.Do(r)
	if err != nil {
		return // cut before the answer
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		o.t.Errorf("watch: %s", resp.Status)
		return
	}
	o.read(&s, resp.Body)
	o.spans = append(o.spans, s)
}

// query gives the parameters of a watch, and the span what they promise.
func (o *observer) query(s *span) url.Values {
	q := o.selectors()
	q.Set("watch", "true")
	if o.bookmarks {
		q.Set("allowWatchBookmarks", "true")
	}
	switch {
	case !s.initial:
		q.Set("resourceVersion", strconv.FormatUint(s.from, 10))
		return q
	case o.begin == "any":
		q.Set("resourceVersion", "0")
		s.atLeast = o.since
		return q
	}
	s.atLeast = o.world.known()
	q.Set("sendInitialEvents", "true")
	q.Set("resourceVersionMatch", "NotOlderThan")
	if o.begin == "stream after" {
		q.Set("resourceVersion", strconv.FormatUint(s.atLeast, 10))
	}
	return q
}

// cutter ends the watch after a random time, in one of the ways in which
// watches end.
func (o *observer) cutter(query url.Values, cancel func()) *time.Timer {
	after := time.Duration(o.rng.IntN(1200)) * time.Millisecond
	if o.rng.IntN(4) == 0 {
		after /= 50 // while it begins
	}
	how := o.rng.IntN(4)
	if how == 0 {
		query.Set("timeoutSeconds", "1")
	}
	return time.AfterFunc(after, func() {
		select {
		case <-o.calm:
			return
		default:
		}
		switch how {
		case 1:
			cancel()
		case 2:
			o.wire.blink()
		}
	})
}

// read notes the frames of a stream up to its end.
func (o *observer) read(s *span, body io.Reader) {
	next := tongue{o.kind, o.media}.frames(body)
	o.known = o.known && !s.initial
	for range o.patience() {
		if o.slow {
			o.pause(time.Duration(o.rng.IntN(120)) * time.Millisecond)
		}
		g, err := next()
		if errors.Is(err, errGarbled) {
			o.t.Errorf("%s: %v", o.name, err)
		}
		if err != nil {
			return
		}
		s.seen = append(s.seen, g)
		switch {
		case g.event == watch.Error:
			o.known = false
			return
		case g.ends:
			o.known = true
			o.compare(s, g.rev)
		}
		if o.known {
			o.pos = g.rev
		}
	}
}

// patience is how many frames are read before the watcher turns away, maybe in
// the middle of the initial events.
func (o *observer) patience() int {
	select {
	case <-o.calm:
		return math.MaxInt
	default:
	}
	if o.rng.IntN(4) == 0 {
		return o.rng.IntN(6)
	}
	return math.MaxInt
}

// compare asks for the list that the initial events should be.
func (o *observer) compare(s *span, rev uint64) {
	q := o.selectors()
	q.Set("resourceVersion", strconv.FormatUint(rev, 10))
	q.Set("resourceVersionMatch", "Exact")
	list := o.list(o.path(), o.media, q)
	if list != nil {
		s.exact = &list
	} else if !o.forgetful {
		o.t.Errorf("%s: nothing was forgotten, and there is no list at %d", o.name, rev)
	}
}
