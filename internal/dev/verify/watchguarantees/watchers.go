package watchguarantees

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

	"example.com/fakeapi/internal/dev/verify/harness"
)

// watchSpec is what a watcher watches, and how it starts.
type watchSpec struct {
	namespace  string // "" for all
	label      string // a label selector
	objectName string // a metadata.name
	start      string // "past", "any", "stream" or "stream after"
	bookmarks  bool
	slow       bool
}

// randomWatchSpecs returns all types of watches with random options.
func randomWatchSpecs(w *environment, rng *rand.Rand) []watchSpec {
	coin := func() bool { return rng.IntN(2) == 0 }
	return []watchSpec{
		{start: "past", bookmarks: coin()},
		{start: "past", bookmarks: true, slow: true},
		{start: "any", bookmarks: coin()},
		{start: "stream", bookmarks: coin(), namespace: "n"},
		{start: "stream", bookmarks: true, label: "app=x", slow: coin()},
		{start: "stream after", bookmarks: true, label: "app!=x"},
		{start: "past", bookmarks: coin(), label: "app in (x,y)", namespace: "n-1"},
		{start: "any", bookmarks: coin(), label: "app"},
		{start: "past", bookmarks: coin(), objectName: "a"},
		{start: "stream", bookmarks: true, objectName: "a-b", namespace: "o", label: "!app"},
	}
}

// watcher keeps a watch open, which is interrupted often, and records its events.
type watcher struct {
	*environment
	watchSpec
	WatchLog
	rng           *rand.Rand
	media         string
	client        *http.Client
	network       *harness.Network
	position      uint64 // the revision to resume from
	positionKnown bool   // position is valid
}

func newWatcher(w *environment, v watchSpec, rng *rand.Rand) *watcher {
	o := &watcher{environment: w, watchSpec: v, rng: rng, media: harness.JSON}
	if rng.IntN(2) == 0 {
		o.media = harness.Protobuf
	}
	config := w.srv.RESTConfig()
	o.network = harness.NewNetwork(config)
	o.client = &http.Client{Transport: &http.Transport{DialContext: config.Dial}}
	selector, err := labels.Parse(v.label)
	require.NoError(w.t, err)
	o.Matches = func(t harness.Object) bool {
		namespace, name, _ := strings.Cut(t.Key, "/")
		return (v.namespace == "" || v.namespace == namespace) && (v.objectName == "" || v.objectName == name) &&
			selector.Matches(labels.Set(t.Labels))
	}
	o.Name = v.start + " " + o.path() + "?" + o.selectorQuery().Encode() + " as " + o.media
	return o
}

func (o *watcher) path() string {
	return o.kind.CollectionPath(o.namespace)
}

func (o *watcher) selectorQuery() url.Values {
	q := url.Values{}
	if o.label != "" {
		q.Set("labelSelector", o.label)
	}
	if o.objectName != "" {
		q.Set("fieldSelector", "metadata.name="+o.objectName)
	}
	return q
}

// run watches until stopWatchers is closed.
func (o *watcher) run() {
	o.sleep(time.Duration(o.rng.IntN(1000)) * time.Millisecond)
	if o.start == "past" {
		o.position, o.positionKnown = o.startRevision+o.rng.Uint64N(o.environment.newestRevision()-o.startRevision+1), true
	}
	for !o.stopped() {
		o.watchOnce()
	}
}

func (o *watcher) stopped() bool {
	select {
	case <-o.stopWatchers:
		return true
	default:
		return false
	}
}

// sleep sleeps for d, or until the writers are done.
func (o *watcher) sleep(d time.Duration) {
	select {
	case <-o.writersDone:
	case <-time.After(d):
	}
}

// watchOnce sends a watch request and reads it to its end.
func (o *watcher) watchOnce() {
	s := WatchRequest{From: o.position, Initial: !o.positionKnown, Bookmarks: o.bookmarks}
	query := o.query(&s)
	ctx, cancel := context.WithCancel(o.t.Context())
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-o.stopWatchers:
			cancel()
		case <-ended:
		}
	}()
	defer o.scheduleCut(query, cancel).Stop()

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.srv.URL()+o.path()+"?"+query.Encode(), nil)
	require.NoError(o.t, err)
	r.Header.Set("Accept", o.media)
	resp, err := o.client.Do(r)
	if err != nil {
		return // interrupted before the response
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		o.t.Errorf("watch: %s", resp.Status)
		return
	}
	o.readEvents(&s, resp.Body)
	o.Requests = append(o.Requests, s)
}

// query returns the parameters of the watch, and sets MinRevision of the request.
func (o *watcher) query(s *WatchRequest) url.Values {
	q := o.selectorQuery()
	q.Set("watch", "true")
	if o.bookmarks {
		q.Set("allowWatchBookmarks", "true")
	}
	switch {
	case !s.Initial:
		q.Set("resourceVersion", strconv.FormatUint(s.From, 10))
		return q
	case o.start == "any":
		q.Set("resourceVersion", "0")
		s.MinRevision = o.startRevision
		return q
	}
	s.MinRevision = o.environment.newestRevision()
	q.Set("sendInitialEvents", "true")
	q.Set("resourceVersionMatch", "NotOlderThan")
	if o.start == "stream after" {
		q.Set("resourceVersion", strconv.FormatUint(s.MinRevision, 10))
	}
	return q
}

// scheduleCut ends the watch after a random time, with a timeout, a cancellation or a broken
// connection.
func (o *watcher) scheduleCut(query url.Values, cancel func()) *time.Timer {
	after := time.Duration(o.rng.IntN(1200)) * time.Millisecond
	if o.rng.IntN(4) == 0 {
		after /= 50 // during its start
	}
	how := o.rng.IntN(4)
	if how == 0 {
		query.Set("timeoutSeconds", "1")
	}
	return time.AfterFunc(after, func() {
		select {
		case <-o.writersDone:
			return
		default:
		}
		switch how {
		case 1:
			cancel()
		case 2:
			o.network.BreakConnections()
		}
	})
}

// readEvents records the events of a watch up to its end.
func (o *watcher) readEvents(s *WatchRequest, body io.Reader) {
	next := harness.Encoding{Kind: o.kind, MediaType: o.media}.EventReader(body)
	o.positionKnown = o.positionKnown && !s.Initial
	for range o.maxEvents() {
		if o.slow {
			o.sleep(time.Duration(o.rng.IntN(120)) * time.Millisecond)
		}
		g, err := next()
		if errors.Is(err, harness.ErrMalformed) {
			o.t.Errorf("%s: %v", o.Name, err)
		}
		if err != nil {
			return
		}
		s.Events = append(s.Events, g)
		switch {
		case g.Type == watch.Error:
			o.positionKnown = false
			return
		case g.InitialEventsEnd:
			o.positionKnown = true
			o.compareWithList(s, g.Revision)
		}
		if o.positionKnown {
			o.position = g.Revision
		}
	}
}

// maxEvents returns how many events are read before the watcher stops, which may be during the
// initial events.
func (o *watcher) maxEvents() int {
	select {
	case <-o.writersDone:
		return math.MaxInt
	default:
	}
	if o.rng.IntN(4) == 0 {
		return o.rng.IntN(6)
	}
	return math.MaxInt
}

// compareWithList reads the list that the initial events should be equal to.
func (o *watcher) compareWithList(s *WatchRequest, rev uint64) {
	q := o.selectorQuery()
	q.Set("resourceVersion", strconv.FormatUint(rev, 10))
	q.Set("resourceVersionMatch", "Exact")
	list := o.list(o.path(), o.media, q)
	if list != nil {
		s.ExactList = &list
	} else if !o.forgetsHistory {
		o.t.Errorf("%s: no list at %d, although no history was forgotten", o.Name, rev)
	}
}
