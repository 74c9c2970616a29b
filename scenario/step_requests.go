package scenario

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// ExpectRequests expects that a client under test has got so many answers, since
// it was first run, whose line in the transcript contains text. A line is "METHOD
// PATH?QUERY CODE", with " Retry-After N" behind it if the answer has that
// header, or with "no answer" instead of the code, and " on REPLICA" at the end if it
// did not go to the first server. A client that was run again
// goes on counting.
func ExpectRequests(client, text string, count Count) Step {
	return expectRequests{client, text, count}
}

type expectRequests struct {
	name, text string
	count      Count
}

func parseExpectRequests(a *args) (Step, error) {
	words, err := a.words(3, 3)
	if err != nil {
		return nil, err
	}
	n, err := parseCount(words[2])
	return expectRequests{words[0], words[1], n}, err
}

func (s expectRequests) String() string {
	return "expect requests " + quote(s.name) + " " + quote(s.text) + " " + s.count.String()
}

func (s expectRequests) Run(_ context.Context, e *Env) error {
	if _, _, err := e.client(s.name); err != nil {
		return err
	}
	lines, all := e.log.requests(s.name)
	if !all {
		return fmt.Errorf("client %s has made more than %d requests, which are not counted any more", s.name, kept)
	}
	saw := 0
	for _, line := range lines {
		if strings.Contains(line, s.text) {
			saw++
		}
	}
	if !s.count.has(saw) {
		return mismatch{fmt.Sprintf("%s requests of client %s with %s", s.count, s.name, quote(s.text)), strconv.Itoa(saw)}
	}
	return nil
}
