package scenario

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"time"
)

// maxBurst is the number of requests that a client can make without a pause. More are taken for a
// loop in which virtual time would not pass.
const maxBurst = 5000

// clientLog has the requests of a client under test, in the order of the responses. Transcript.mu
// guards the fields.
type clientLog struct {
	log    *Transcript
	client string
	lines  []string

	last     time.Time // time of the latest request
	burst    int       // requests at that time
	busyLoop bool      // burst has exceeded maxBurst
}

// beforeRequest delays the requests of a client that does not pause, so that time passes and the
// scenario can fail.
func (l *clientLog) beforeRequest(ctx context.Context) error {
	if l.add(time.Now()) {
		return nil
	}
	return sleep(ctx, time.Second)
}

// add counts a request and reports whether the client has not exceeded maxBurst.
func (l *clientLog) add(now time.Time) bool {
	l.log.mu.Lock()
	defer l.log.mu.Unlock()
	if now.After(l.last) {
		l.last, l.burst = now, 0
	}
	l.burst++
	l.busyLoop = l.busyLoop || l.burst > maxBurst
	return l.burst <= maxBurst
}

// maxLoggedRequests is the number of requests of a client that a transcript has.
const maxLoggedRequests = 1000

func (l *clientLog) afterResponse(line string) {
	l.log.mu.Lock()
	defer l.log.mu.Unlock()
	switch {
	case l.log.closed || len(l.lines) > maxLoggedRequests:
	case len(l.lines) == maxLoggedRequests:
		l.lines = append(l.lines, "...")
	default:
		l.lines = append(l.lines, line)
		l.log.emit(fmt.Sprintf("%9s    client %s: %s", l.log.elapsed(time.Now()), l.client, line))
	}
}

// ClientLogs returns the requests of the clients under test in a form for the comparison of two
// runs. The keys are "CLIENT PATH", and the values "METHOD?QUERY CODE" in the order of the
// responses. They have no times and nothing that depends on times or on the order of other
// requests: no resourceVersions other than "0", and no timeouts of watches. A client with more than
// a thousand requests has only the key CLIENT, with the value "...".
//
// The package documentation describes which runs have the same logs.
func (t *Transcript) ClientLogs() map[string][]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	logs := map[string][]string{}
	for _, l := range t.clientLogs {
		if len(l.lines) > maxLoggedRequests {
			logs[l.client] = []string{"..."}
			continue
		}
		for _, line := range l.lines {
			path, request := splitRequestLine(line)
			logs[l.client+" "+path] = append(logs[l.client+" "+path], request)
		}
	}
	return logs
}

// splitRequestLine splits "METHOD PATH?QUERY CODE" into the path and the rest, without what depends
// on times.
func splitRequestLine(line string) (path, request string) {
	method, rest, _ := strings.Cut(line, " ")
	url, code, _ := strings.Cut(rest, " ")
	path, query, _ := strings.Cut(url, "?")
	var parts []string
	for part := range strings.SplitSeq(query, "&") {
		switch name, value, _ := strings.Cut(part, "="); {
		case name == "timeout" || name == "timeoutSeconds":
		case name == "resourceVersion" && value != "0":
			parts = append(parts, name+"=...")
		case part != "":
			parts = append(parts, part)
		}
	}
	if parts != nil {
		method += "?" + strings.Join(parts, "&")
	}
	return path, method + " " + code
}

// seedMathRand seeds math/rand, from which client-go takes its back-off and the timeouts of its
// watches. It has an effect only in a binary with the setting randseednop=0; see the package
// documentation.
func seedMathRand(seed uint64) {
	//lint:ignore SA1019 nothing else reaches the random numbers of a library
	rand.Seed(int64(seed))
}
