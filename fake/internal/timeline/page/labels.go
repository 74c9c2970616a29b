package page

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/requestinfo"
)

// requestTarget is the object or collection of a request.
type requestTarget struct {
	resource, namespace, name, subresource string
	path, selectors                        string
	// object is true if the response contains the object itself.
	object bool
}

func targetOf(e timeline.Exchange) requestTarget {
	path, raw, _ := strings.Cut(e.Path, "?")
	query, err := url.ParseQuery(raw)
	if err != nil { // the response is an error
		query = nil
	}
	t := requestinfo.Parse(e.Method, path, query)
	to := requestTarget{resource: t.Resource, namespace: t.Namespace, name: t.Name, subresource: t.Subresource, path: path}
	if t.Group != "" && t.Resource != "" {
		to.resource += "." + t.Group
	}
	if t.Resource == "namespaces" && t.Namespace == t.Name { // a namespace is cluster-scoped
		to.namespace = ""
	}
	var selectors []string
	for _, name := range []string{"labelSelector", "fieldSelector"} {
		if v := query.Get(name); v != "" {
			selectors = append(selectors, v)
		}
	}
	to.selectors = strings.Join(selectors, ", ")
	to.object = t.Resource != "" && (e.Verb == "get" || isWriteVerb(e.Verb)) && (t.Subresource == "" || t.Subresource == "status")
	return to
}

// withObject returns the target of an object in a collection.
func (t requestTarget) withObject(namespace, name string) requestTarget {
	t.namespace, t.name = namespace, name
	return t
}

// key identifies an object in all requests and events.
func (t requestTarget) key() string { return strings.TrimSpace(t.resource + " " + t.place()) }

func (t requestTarget) place() string {
	if t.namespace != "" && t.name != "" {
		return t.namespace + "/" + t.name
	}
	return t.name
}

// String describes the target.
func (t requestTarget) String() string {
	if t.resource == "" {
		return t.path
	}
	s := t.resource
	if t.subresource != "" {
		s += "/" + t.subresource
	}
	if t.name != "" {
		return s + " " + t.place()
	}
	if t.namespace != "" {
		s += " in " + t.namespace
	}
	return s
}

func lastPart(path string) string {
	return path[strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1:]
}

// watchLabel describes a watch. It is the same for a watch that is opened again.
func (t requestTarget) watchLabel() string {
	s := t.String()
	if t.selectors != "" {
		s += " where " + t.selectors
	}
	return s
}

// exchangeText describes a request in a sentence.
func (s *pageData) exchangeText(e timeline.Exchange, to requestTarget, hits []int) string {
	verb := e.Verb
	if verb == "" || to.resource == "" {
		verb = e.Method
	}
	text := fmt.Sprintf("%s: %s %s, %s", clientName(e.UserAgent), verb, to, answerText(e))
	if to.selectors != "" {
		text += ", where " + to.selectors
	}
	if e.ResourceVersion != "" {
		text += ", resourceVersion " + e.ResourceVersion
	}
	for _, effect := range effectsOf(e) {
		text += ", " + effect
	}
	return text + ", " + s.whenText(e.Begin) + ", " + tookText(e) + s.hitsText(hits)
}

// frameText describes an event in a sentence.
func (s *pageData) frameText(e timeline.Exchange, to requestTarget, f timeline.Frame, hits []int) string {
	kind, what := f.Type, to.withObject(f.Namespace, f.Name)
	switch {
	case kind == "":
		kind = "bytes that are no event"
	case kind == "ERROR" && f.Name != "":
		kind, what.namespace, what.name = "ERROR "+f.Name, to.namespace, to.name
	case kind == "BOOKMARK":
		what = to
	}
	text := fmt.Sprintf("%s, %s", kind, what)
	if f.ResourceVersion != "" {
		text += ", resourceVersion " + f.ResourceVersion
	}
	return fmt.Sprintf("%s, %s, watched by %s%s", text, s.whenText(f.Time), clientName(e.UserAgent), s.hitsText(hits))
}

func (s *pageData) faultText(h faults.Hit) string {
	text := "fault " + hitName(h)
	if h.NotApplied != "" {
		text += " not applied (" + h.NotApplied + ")"
	} else {
		text += " hit"
	}
	return fmt.Sprintf("%s %s, %s", text, h.Op, s.whenText(h.Time))
}

func (s *pageData) hitsText(hits []int) string {
	var b strings.Builder
	for _, n := range hits {
		h := s.timeline.Hits[n]
		b.WriteString(", fault " + hitName(h))
		if h.NotApplied != "" {
			b.WriteString(" not applied")
		} else {
			b.WriteString(" hit it")
		}
	}
	return b.String()
}

func (s *pageData) whenText(at time.Time) string { return "at " + offsetText(at.Sub(s.Begin)) }

// answerText describes the status code.
func answerText(e timeline.Exchange) string {
	switch text := http.StatusText(e.StatusCode); {
	case e.StatusCode == 0 && e.End.IsZero():
		return "no answer yet"
	case e.StatusCode == 0:
		return "no answer"
	case text != "":
		return strconv.Itoa(e.StatusCode) + " " + text
	default:
		return strconv.Itoa(e.StatusCode)
	}
}

func tookText(e timeline.Exchange) string {
	if e.End.IsZero() {
		return "not ended"
	}
	return "took " + durationText(e.End.Sub(e.Begin))
}

// offsetText returns a time since the beginning.
func offsetText(d time.Duration) string {
	if d < 0 {
		return durationText(d)
	}
	return "+" + durationText(d)
}

// durationText returns a duration, rounded to about four digits.
func durationText(d time.Duration) string {
	unit := time.Microsecond
	switch {
	case d >= time.Minute:
		unit = 100 * time.Millisecond
	case d >= time.Second:
		unit = 10 * time.Millisecond
	case d >= time.Millisecond:
		unit = 100 * time.Microsecond
	}
	return d.Round(unit).String()
}

func clientName(agent string) string {
	if agent == "" {
		return "no user agent"
	}
	return agent
}

// labelLanes shortens user agents to their first word if that is unambiguous.
func (s *pageData) labelLanes() {
	short := func(client string) string {
		first, rest, _ := strings.Cut(client, " ")
		if !strings.Contains(first, "/") || rest == "" {
			return client
		}
		return first
	}
	means := map[string]string{}
	for _, l := range s.Lanes {
		if other, ok := means[short(l.Client)]; ok && other != l.Client {
			means[short(l.Client)] = ""
		} else if !ok {
			means[short(l.Client)] = l.Client
		}
	}
	for i := range s.Lanes {
		l := &s.Lanes[i]
		l.Label = short(l.Client)
		if means[l.Label] != l.Client {
			l.Label = l.Client
		}
		if l.Watch != "" {
			l.Label = l.Watch
		}
	}
}

// shapeOf returns the shape of a request's mark, which depends on the status code and the verb.
func shapeOf(e timeline.Exchange) string {
	switch {
	case e.StatusCode == 0:
		return "none"
	case e.StatusCode >= http.StatusInternalServerError:
		return "bad5"
	case e.StatusCode >= http.StatusBadRequest:
		return "bad4"
	case isWriteVerb(e.Verb) || e.Verb == "deletecollection":
		return "write"
	}
	return "read"
}

// glyphOf returns the abbreviation of the verb.
func glyphOf(e timeline.Exchange) string {
	switch e.Verb {
	case "create", "update", "patch", "watch", "list", "get":
		return e.Verb
	case "delete":
		return "del"
	case "deletecollection":
		return "delcol"
	}
	return strings.ToLower(e.Method)
}

// codeText returns the status code if it is not that of success.
func codeText(e timeline.Exchange) string {
	switch {
	case e.StatusCode == 0 && e.End.IsZero():
		return "..."
	case e.StatusCode == 0:
		return "none"
	case e.StatusCode == http.StatusOK || e.StatusCode == http.StatusCreated:
		return ""
	}
	return strconv.Itoa(e.StatusCode)
}

func isObjectEvent(frame string) bool {
	return frame == "ADDED" || frame == "MODIFIED" || frame == "DELETED"
}

func frameShape(frame string) string {
	switch frame {
	case "ADDED":
		return "add"
	case "MODIFIED":
		return "mod"
	case "DELETED":
		return "del"
	case "BOOKMARK":
		return "book"
	case "ERROR":
		return "err"
	}
	return "junk"
}

func frameGlyph(frame string) string {
	switch frame {
	case "ADDED":
		return "+"
	case "MODIFIED":
		return "~"
	case "DELETED":
		return "\u2212"
	case "BOOKMARK":
		return "b"
	case "ERROR":
		return "!"
	}
	return "?"
}
