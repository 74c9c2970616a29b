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
func randomWatchSpecs(rng *rand.Rand) []watchSpec {
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

func newWatcher(e *environment, spec watchSpec, rng *rand.Rand) *watcher {
	w := &watcher{environment: e, watchSpec: spec, rng: rng, media: harness.JSON}
	if rng.IntN(2) == 0 {
		w.media = harness.Protobuf
	}
	config := e.srv.RESTConfig()
	w.network = harness.NewNetwork(config)
	w.client = &http.Client{Transport: &http.Transport{DialContext: config.Dial}}
	selector, err := labels.Parse(spec.label)
	require.NoError(e.t, err)
	w.Matches = func(t harness.Object) bool {
		namespace, name, _ := strings.Cut(t.Key, "/")
		return (spec.namespace == "" || spec.namespace == namespace) && (spec.objectName == "" || spec.objectName == name) &&
			selector.Matches(labels.Set(t.Labels))
	}
	w.Name = spec.start + " " + w.path() + "?" + w.selectorQuery().Encode() + " as " + w.media
	return w
}

func (w *watcher) path() string {
	return w.kind.CollectionPath(w.namespace)
}

func (w *watcher) selectorQuery() url.Values {
	q := url.Values{}
	if w.label != "" {
		q.Set("labelSelector", w.label)
	}
	if w.objectName != "" {
		q.Set("fieldSelector", "metadata.name="+w.objectName)
	}
	return q
}

// run watches until stopWatchers is closed.
func (w *watcher) run() {
	w.sleep(time.Duration(w.rng.IntN(1000)) * time.Millisecond)
	if w.start == "past" {
		w.position, w.positionKnown = w.startRevision+w.rng.Uint64N(w.environment.newestRevision()-w.startRevision+1), true
	}
	for !w.stopped() {
		w.watchOnce()
	}
}

func (w *watcher) stopped() bool {
	select {
	case <-w.stopWatchers:
		return true
	default:
		return false
	}
}

// sleep sleeps for d, or until the writers are done.
func (w *watcher) sleep(d time.Duration) {
	select {
	case <-w.writersDone:
	case <-time.After(d):
	}
}

// watchOnce sends a watch request and reads it to its end.
func (w *watcher) watchOnce() {
	request := WatchRequest{From: w.position, Initial: !w.positionKnown, Bookmarks: w.bookmarks}
	query := w.query(&request)
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-w.stopWatchers:
			cancel()
		case <-ended:
		}
	}()
	defer w.scheduleCut(query, cancel).Stop()

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.srv.URL()+w.path()+"?"+query.Encode(), nil)
	require.NoError(w.t, err)
	r.Header.Set("Accept", w.media)
	resp, err := w.client.Do(r)
	if err != nil {
		return // interrupted before the response
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		w.t.Errorf("watch: %s", resp.Status)
		return
	}
	w.readEvents(&request, resp.Body)
	w.Requests = append(w.Requests, request)
}

// query returns the parameters of the watch, and sets MinRevision of the request.
func (w *watcher) query(r *WatchRequest) url.Values {
	q := w.selectorQuery()
	q.Set("watch", "true")
	if w.bookmarks {
		q.Set("allowWatchBookmarks", "true")
	}
	switch {
	case !r.Initial:
		q.Set("resourceVersion", strconv.FormatUint(r.From, 10))
		return q
	case w.start == "any":
		q.Set("resourceVersion", "0")
		r.MinRevision = w.startRevision
		return q
	}
	r.MinRevision = w.environment.newestRevision()
	q.Set("sendInitialEvents", "true")
	q.Set("resourceVersionMatch", "NotOlderThan")
	if w.start == "stream after" {
		q.Set("resourceVersion", strconv.FormatUint(r.MinRevision, 10))
	}
	return q
}

// scheduleCut ends the watch after a random time, with a timeout, a cancellation or a broken
// connection.
func (w *watcher) scheduleCut(query url.Values, cancel func()) *time.Timer {
	after := time.Duration(w.rng.IntN(1200)) * time.Millisecond
	if w.rng.IntN(4) == 0 {
		after /= 50 // during its start
	}
	how := w.rng.IntN(4)
	if how == 0 {
		query.Set("timeoutSeconds", "1")
	}
	return time.AfterFunc(after, func() {
		select {
		case <-w.writersDone:
			return
		default:
		}
		switch how {
		case 1:
			cancel()
		case 2:
			w.network.BreakConnections()
		}
	})
}

// readEvents records the events of a watch up to its end.
func (w *watcher) readEvents(r *WatchRequest, body io.Reader) {
	next := harness.Encoding{Kind: w.kind, MediaType: w.media}.EventReader(body)
	w.positionKnown = w.positionKnown && !r.Initial
	for range w.maxEvents() {
		if w.slow {
			w.sleep(time.Duration(w.rng.IntN(120)) * time.Millisecond)
		}
		e, err := next()
		if errors.Is(err, harness.ErrMalformed) {
			w.t.Errorf("%s: %v", w.Name, err)
		}
		if err != nil {
			return
		}
		r.Events = append(r.Events, e)
		switch {
		case e.Type == watch.Error:
			w.positionKnown = false
			return
		case e.InitialEventsEnd:
			w.positionKnown = true
			w.compareWithList(r, e.Revision)
		}
		if w.positionKnown {
			w.position = e.Revision
		}
	}
}

// maxEvents returns how many events are read before the watcher stops, which may be during the
// initial events.
func (w *watcher) maxEvents() int {
	select {
	case <-w.writersDone:
		return math.MaxInt
	default:
	}
	if w.rng.IntN(4) == 0 {
		return w.rng.IntN(6)
	}
	return math.MaxInt
}

// compareWithList reads the list that the initial events should be equal to.
func (w *watcher) compareWithList(r *WatchRequest, rev uint64) {
	q := w.selectorQuery()
	q.Set("resourceVersion", strconv.FormatUint(rev, 10))
	q.Set("resourceVersionMatch", "Exact")
	if list, ok := w.list(w.path(), w.media, q); ok {
		r.ExactList = &list
	} else if !w.forgetsHistory {
		w.t.Errorf("%s: no list at %d, although no history was forgotten", w.Name, rev)
	}
}
