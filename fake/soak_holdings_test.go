package fakeapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"
)

// holdings are what a server holds while nobody asks anything of it.
type holdings struct {
	goroutines int
	heap       uint64
}

// soakGrowth is how much the heap may grow after the second round, whatever is done: far
// less than the garbage of a few rounds.
const soakGrowth = 32 << 20

// leaks tells what is held that should not be: goroutines and memory beyond those of the
// first rounds, requests that are served and not asked, watches that nobody has.
func (s *soak) leaks() (complaints []string) {
	for _, g := range s.wires {
		g.next.CloseIdleConnections()
	}
	watchers := len(s.sentries) + len(s.informers) + len(s.kinds) // and the scribe
	complaints = append(complaints, s.idle(watchers)...)
	var h holdings
	h.goroutines = goruntime.NumGoroutine()
	if s.round > 1 && !within(10*time.Second, func() bool { h.goroutines = goruntime.NumGoroutine(); return h.goroutines <= s.first.goroutines }) {
		complaints = append(complaints, fmt.Sprintf("leak: %d goroutines, there were %d after the first round", h.goroutines, s.first.goroutines))
	}
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	h.heap = m.HeapAlloc
	if s.round > 2 && h.heap > s.first.heap+soakGrowth {
		complaints = append(complaints, fmt.Sprintf("leak: %d bytes on the heap, there were %d after the second round", h.heap, s.first.heap))
	}
	if s.round <= 2 {
		s.first.heap = h.heap
	}
	if s.round == 1 {
		s.first.goroutines = h.goroutines
	}
	return complaints
}

// idle tells what is served beyond some watches. They open anew now and then, so that there
// may be fewer for a moment, but never more.
func (s *soak) idle(watchers int) (complaints []string) {
	full := false
	for range 8 {
		watches, others := s.served()
		if watches > watchers || others != 2 {
			return []string{fmt.Sprintf("leak: there should be %d watches, and no request but two for the metrics; there are %d and %d", watchers, watches, others)}
		}
		full = full || watches == watchers
		time.Sleep(30 * time.Millisecond)
	}
	if !full {
		complaints = append(complaints, fmt.Sprintf("uncounted: there should be %d watches, by the metrics there never are", watchers))
	}
	return complaints
}

// served is how many watches and other requests both doors serve, by their metrics.
func (s *soak) served() (watches, others int) {
	for _, srv := range s.servers() {
		metrics := scrape(s.t, srv, "apiserver_longrunning_requests", "apiserver_current_inflight_requests")
		for _, line := range metrics("apiserver_longrunning_requests") {
			watches += int(countIn(line))
		}
		for _, line := range metrics("apiserver_current_inflight_requests") {
			others += int(countIn(line))
		}
	}
	return watches, others
}

// countIn is the value at the end of a line of metrics.
func countIn(line string) float64 {
	n, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
	if err != nil {
		panic(err) // scraped has printed it
	}
	return n
}

// miscounted tells which metrics do not say what was done: every write that was sent was
// answered or broken off, and there are as many objects as can be listed.
func (s *soak) miscounted(there map[string][]thing) (complaints []string) {
	counted := map[string]float64{}
	var objects []string // of both doors the same
	for _, srv := range s.servers() {
		metrics := scrape(s.t, srv, "apiserver_request_total", "apiserver_request_aborts_total", "apiserver_resource_objects")
		objects = metrics("apiserver_resource_objects")
		for _, name := range []string{"apiserver_request_total", "apiserver_request_aborts_total"} {
			for _, line := range metrics(name) {
				labels := labelsIn(line)
				counted[methodOf(labels["verb"])+" "+labels["resource"]] += countIn(line)
			}
		}
	}
	for _, k := range s.kinds {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			what := method + " " + k.plural
			if sent := s.sent.of(what); int(counted[what]) != sent {
				complaints = append(complaints, fmt.Sprintf("miscounted: %d times %s was sent, by the metrics it was %v", sent, what, counted[what]))
			}
		}
		for _, line := range objects {
			if labels := labelsIn(line); labels["resource"] == k.plural && int(countIn(line)) != len(there[k.name]) {
				complaints = append(complaints, fmt.Sprintf("miscounted: there are %d %s: %s", len(there[k.name]), k.plural, line))
			}
		}
	}
	return complaints
}

func labelsIn(line string) map[string]string {
	labels := map[string]string{}
	for _, word := range strings.Fields(line) {
		name, value, _ := strings.Cut(word, "=")
		labels[name] = value
	}
	return labels
}

// methodOf is the method of a verb as the metrics name it.
func methodOf(verb string) string {
	switch verb {
	case "APPLY":
		return http.MethodPatch
	case "DELETECOLLECTION":
		return http.MethodDelete
	}
	return verb
}

// unforgotten tells if more history is there than the server was told to keep, or less.
func (s *soak) unforgotten(last uint64) (complaints []string) {
	if last < soakHistory+2 {
		return nil
	}
	path, code := s.kinds[0].collection(""), func(rev uint64) int {
		query := url.Values{"resourceVersion": {strconv.FormatUint(rev, 10)}, "resourceVersionMatch": {"Exact"}, "limit": {"1"}}
		code, _, err := s.auditor[0].get(s.t, jsonMedia, s.kinds[0].collection(""), query)
		if err != nil {
			s.t.Error(err)
		}
		return code
	}
	if got := code(last - soakHistory - 1); got != http.StatusGone {
		complaints = append(complaints, fmt.Sprintf("unforgotten: %s from %d changes ago is answered with %d", path, soakHistory+1, got))
	}
	if got := code(last); got != http.StatusOK {
		complaints = append(complaints, fmt.Sprintf("forgotten: %s as it is now is answered with %d", path, got))
	}
	return complaints
}
