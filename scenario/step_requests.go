package scenario

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ExpectRequests expects how many lines of a client under test in the transcript contain text,
// since the client was first run. A line is "METHOD PATH?QUERY CODE". It has "no answer" instead of
// the code if there was no response, " Retry-After N" after the code if the response has that
// header, and " on REPLICA" at the end if the request was not sent to the first server. The count
// continues if the client is run again.
func ExpectRequests(client, text string, count Count) Step {
	return expectRequests{client, text, count, 0}
}

// ExpectRequestsIn lets time pass, as [Advance] does, and counts only the responses in that time.
func ExpectRequestsIn(d time.Duration, client, text string, count Count) Step {
	return expectRequests{client, text, count, d}
}

type expectRequests struct {
	name, text string
	count      Count
	in         time.Duration // 0 for the time since the first run
}

func (kinds) ExpectRequests() stepKind {
	return stepKind{"expect requests CLIENT TEXT COUNT [--in DURATION]", parseExpectRequests}
}

func parseExpectRequests(a *args) (Step, error) {
	all, given, err := a.wordsAndFlags("--in=")
	if err != nil {
		return nil, err
	}
	words, err := unquoteWords(all, 3, 3)
	if err != nil {
		return nil, err
	}
	s := expectRequests{name: words[0], text: words[1]}
	if s.count, err = parseCount(words[2]); err != nil {
		return nil, err
	}
	if in, ok := given["--in"]; ok {
		s.in, err = parseDuration(in, 1)
	}
	return s, err
}

func (s expectRequests) String() string {
	in := ""
	if s.in > 0 {
		in = "--in " + s.in.String()
	}
	return joinWords("expect requests", quote(s.name), quote(s.text), s.count.String(), in)
}

func (s expectRequests) Run(ctx context.Context, e *Env) error {
	if _, _, err := e.startedClient(s.name); err != nil {
		return err
	}
	before := 0
	if s.in > 0 {
		lines, _ := e.log.requestLines(s.name)
		before = len(lines)
		if err := e.sleep(ctx, s.in); err != nil {
			return err
		}
		e.waitIdle()
	}
	lines, all := e.log.requestLines(s.name)
	if !all {
		return fmt.Errorf("client %s has sent more than %d requests, which are not counted", s.name, maxLoggedRequests)
	}
	saw := 0
	for _, line := range lines[before:] {
		if strings.Contains(line, s.text) {
			saw++
		}
	}
	if !s.count.matches(saw) {
		want := fmt.Sprintf("%s requests of client %s with %s", s.count, s.name, quote(s.text))
		if s.in > 0 {
			want += fmt.Sprintf(" in %v", s.in)
		}
		return mismatch{want, strconv.Itoa(saw)}
	}
	return nil
}
