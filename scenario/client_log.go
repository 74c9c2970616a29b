package scenario

import (
	"math/rand"
	"strings"
)

// ClientLogs gives what the clients under test did, in the form in which two runs can
// be compared: for each client and path the requests in their order, "METHOD?QUERY
// CODE", without times, and without what follows from times or from the order of
// others: resourceVersions but "0", and the timeouts of watches. The keys are
// "CLIENT PATH". A client with more than a thousand requests has one lane, CLIENT,
// that says no more than that.
//
// The package documentation says when two runs have the same lanes.
func (t *Transcript) ClientLogs() map[string][]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lanes := map[string][]string{}
	for _, l := range t.clientLogs {
		if len(l.lines) > maxLoggedRequests {
			lanes[l.client] = []string{"..."}
			continue
		}
		for _, line := range l.lines {
			path, request := splitRequestLine(line)
			lanes[l.client+" "+path] = append(lanes[l.client+" "+path], request)
		}
	}
	return lanes
}

// splitRequestLine takes the line of a request apart, "METHOD PATH?QUERY CODE".
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

// seedMathRand makes the random numbers of math/rand follow from the seed: client-go's
// back-off and the timeouts of its watches come from there. It has an effect only
// in a binary that asks for it with the setting randseednop=0; see the package
// documentation.
func seedMathRand(seed uint64) {
	//lint:ignore SA1019 nothing else reaches the random numbers of a library
	rand.Seed(int64(seed))
}
