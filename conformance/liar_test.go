package conformance_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// lie is a way for a server to be wrong: a transport between the suite and a server that behaves.
type lie func(next http.RoundTripper) http.RoundTripper

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// asking changes requests on their way.
func asking(change func(*http.Request)) lie {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			change(req)
			return next.RoundTrip(req)
		})
	}
}

// sending changes the bodies of these requests on their way.
func sending(when func(*http.Request) bool, change func(string) string) lie {
	return asking(func(req *http.Request) {
		if req.Body == nil || !when(req) {
			return
		}
		sent, err := io.ReadAll(req.Body)
		if err != nil {
			panic(err) // of the suite's own body
		}
		changed := change(string(sent))
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(changed)), int64(len(changed))
	})
}

// deaf is a server that does not read a query parameter.
func deaf(parameter string) lie { return asked(parameter, "") }

// asked is a server that reads a parameter as if it had another value, where it is given. An empty value means not given.
func asked(parameter, value string) lie {
	return asking(func(req *http.Request) {
		q := req.URL.Query()
		if !q.Has(parameter) {
			return
		}
		q.Del(parameter)
		if value != "" {
			q.Set(parameter, value)
		}
		req.URL.RawQuery = q.Encode()
	})
}

// saying changes answers to these requests on their way.
func saying(when func(*http.Request) bool, change func(*http.Response)) lie {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil && when(req) {
				change(resp)
			}
			return resp, err
		})
	}
}

// insteadOf answers 501 where the server would have answered with this code.
func insteadOf(code int) lie {
	return saying(always, func(resp *http.Response) {
		if resp.StatusCode == code {
			resp.StatusCode = http.StatusNotImplemented
		}
	})
}

// body changes the whole body of an answer.
func body(when func(*http.Request) bool, change func(string) string) lie {
	return saying(when, func(resp *http.Response) {
		old, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			panic(err) // of the test's own server
		}
		resp.Body = io.NopCloser(strings.NewReader(change(string(old))))
	})
}

// frames changes the events of watches. It gets the events before, and may give none, one, or more lines.
func frames(change func(before []string, event string) []string) lie {
	return saying(isWatch, func(resp *http.Response) {
		if resp.StatusCode != http.StatusOK {
			return
		}
		resp.Body = &lineBody{source: resp.Body, lines: bufio.NewReader(resp.Body), change: change}
	})
}

// lineBody is a body that changes line by line.
type lineBody struct {
	source io.Closer
	lines  *bufio.Reader
	change func(before []string, line string) []string
	before []string
	rest   bytes.Buffer
}

func (b *lineBody) Read(p []byte) (int, error) {
	for b.rest.Len() == 0 {
		line, err := b.lines.ReadString('\n')
		if err != nil {
			return 0, err
		}
		for _, changed := range b.change(b.before, line) {
			b.rest.WriteString(changed)
		}
		b.before = append(b.before, line)
	}
	return b.rest.Read(p)
}

func (b *lineBody) Close() error { return b.source.Close() }

// The requests to lie about.

func always(*http.Request) bool { return true }

func isWatch(req *http.Request) bool {
	q := req.URL.Query()
	return q.Has("watch") && q.Get("watch") != "false" && q.Get("watch") != "0" || strings.Contains(req.URL.Path, "/watch/")
}

func isPlain(req *http.Request) bool { return !isWatch(req) }

func isList(req *http.Request) bool {
	last := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
	collections := []string{"secrets", "leases", "namespaces", "configmaps", "pods", "services"}
	return req.Method == http.MethodGet && !isWatch(req) && slices.Contains(collections, last)
}

func is(method string) func(*http.Request) bool {
	return func(req *http.Request) bool { return req.Method == method }
}

func ending(suffix string) func(*http.Request) bool {
	return func(req *http.Request) bool { return strings.HasSuffix(req.URL.Path, suffix) }
}

// swap replaces text.
func swap(old, with string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, old, with) }
}

// swapFrame replaces text in the events of watches.
func swapFrame(old, with string) lie {
	return frames(func(_ []string, event string) []string { return []string{strings.ReplaceAll(event, old, with)} })
}

// moved moves a number in the query by so much.
func moved(parameter string, by int) lie {
	return asking(func(req *http.Request) {
		q := req.URL.Query()
		if n, err := strconv.Atoi(q.Get(parameter)); err == nil && n > 0 {
			q.Set(parameter, strconv.Itoa(n+by))
			req.URL.RawQuery = q.Encode()
		}
	})
}

// path rewrites paths.
func path(change func(string) string) lie {
	return asking(func(req *http.Request) {
		req.URL = &url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: change(req.URL.Path), RawQuery: req.URL.RawQuery}
	})
}

// insteadOfMethod is a server that does not know a method.
func insteadOfMethod(method string) lie {
	return asking(func(req *http.Request) {
		if req.Method == method {
			req.Method = "BREW"
		}
	})
}

// asked0 is a server that reads resourceVersion=0 as something else.
func asked0(instead string) lie {
	return asking(func(req *http.Request) {
		req.URL.RawQuery = strings.Replace(req.URL.RawQuery, "resourceVersion=0", instead, 1)
	})
}

// edited decodes a list, changes its items, and encodes it again.
func edited(change func(items []json.RawMessage) []json.RawMessage) func(string) string {
	return func(s string) string {
		var list map[string]json.RawMessage
		var items []json.RawMessage
		if json.Unmarshal([]byte(s), &list) != nil || json.Unmarshal(list["items"], &items) != nil {
			return s
		}
		list["items"], _ = json.Marshal(change(items))
		out, _ := json.Marshal(list)
		return string(out)
	}
}

func dropLast(s string) string {
	return edited(func(items []json.RawMessage) []json.RawMessage { return items[:max(0, len(items)-1)] })(s)
}

func backwards(s string) string {
	return edited(func(items []json.RawMessage) []json.RawMessage { slices.Reverse(items); return items })(s)
}

// swapNumber moves the numbers after a text.
func swapNumber(after string, by int) func(string) string {
	pattern := regexp.MustCompile(regexp.QuoteMeta(after) + `(\d+)`)
	return func(s string) string {
		return pattern.ReplaceAllStringFunc(s, func(found string) string {
			n, err := strconv.Atoi(found[len(after):])
			if err != nil {
				return found
			}
			return after + strconv.Itoa(n+by)
		})
	}
}

// counting is a server whose objects differ at each read.
func counting() lie {
	reads := 0
	return body(is(http.MethodGet), func(s string) string {
		reads++
		return swapNumber(`"resourceVersion":"`, reads)(s)
	})
}

func shortNames(s string) string {
	return regexp.MustCompile(`"name":"[^"]*`).ReplaceAllStringFunc(s, func(name string) string { return name[:len(name)-1] })
}

func vowels(s string) string {
	return regexp.MustCompile(`"name":"base-[^"]*`).ReplaceAllString(s, `"name":"base-aeiou`)
}

// countDown gives every event a lower resourceVersion than the one before.
func countDown(before []string, event string) []string {
	return []string{swapNumber(`"resourceVersion":"`, -10*len(before))(event)}
}

// breakOff ends streams in disorder.
func breakOff(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil && isWatch(req) {
			resp.Body = &disorder{resp.Body}
		}
		return resp, err
	})
}

type disorder struct{ io.ReadCloser }

func (d *disorder) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// storesNamespaces is a server that takes and keeps the namespace of a cluster-scoped object.
func storesNamespaces(next http.RoundTripper) http.RoundTripper {
	ask := sending(always, swap(`,"namespace":"somewhere"`, ""))
	return body(ending("-cluster-scoped"), swap(`"metadata":{`, `"metadata":{"namespace":"somewhere",`))(ask(next))
}

// The paths that servers do not have.

func lostRoot(p string) string {
	if p == "/" {
		return "/nothing"
	}
	return p
}
