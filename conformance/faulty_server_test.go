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

// fault is a transport in front of a correct server that makes it break a rule.
type fault func(next http.RoundTripper) http.RoundTripper

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// changeRequest changes requests.
func changeRequest(change func(*http.Request)) fault {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			change(req)
			return next.RoundTrip(req)
		})
	}
}

// changeRequestBody changes the bodies of requests that meet a condition.
func changeRequestBody(when func(*http.Request) bool, change func(string) string) fault {
	return changeRequest(func(req *http.Request) {
		if when(req) {
			setBody(req, change(readBody(req)))
		}
	})
}

// ignoreParameter removes a query parameter.
func ignoreParameter(parameter string) fault { return setParameter(parameter, "") }

// setParameter replaces the value of a query parameter in requests that have it, or removes it if
// the value is empty.
func setParameter(parameter, value string) fault {
	return changeRequest(func(req *http.Request) {
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

// changeResponse changes the responses to requests that meet a condition.
func changeResponse(when func(*http.Request) bool, change func(*http.Response)) fault {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripFunc(func(req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil && when(req) {
				change(resp)
			}
			return resp, err
		})
	}
}

// withoutCode answers 501 instead of this code.
func withoutCode(code int) fault {
	return changeResponse(anyRequest, func(resp *http.Response) {
		if resp.StatusCode == code {
			resp.StatusCode = http.StatusNotImplemented
		}
	})
}

// changeBody changes the whole body of responses.
func changeBody(when func(*http.Request) bool, change func(string) string) fault {
	return changeResponse(when, func(resp *http.Response) {
		old, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			panic(err) // the response is that of the test's server
		}
		resp.Body = io.NopCloser(strings.NewReader(change(string(old))))
	})
}

// changeEvents changes the events of watches. The function gets the events before, and returns any
// number of lines.
func changeEvents(change func(before []string, event string) []string) fault {
	return changeResponse(isWatch, func(resp *http.Response) {
		if resp.StatusCode != http.StatusOK {
			return
		}
		resp.Body = &lineBody{source: resp.Body, lines: bufio.NewReader(resp.Body), change: change}
	})
}

// lineBody changes a body line by line.
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

// Conditions on requests.

func anyRequest(*http.Request) bool { return true }

func isWatch(req *http.Request) bool {
	q := req.URL.Query()
	return q.Has("watch") && q.Get("watch") != "false" && q.Get("watch") != "0" || strings.Contains(req.URL.Path, "/watch/")
}

func isNotWatch(req *http.Request) bool { return !isWatch(req) }

func isList(req *http.Request) bool {
	last := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
	collections := []string{"secrets", "leases", "namespaces", "configmaps", "pods", "services"}
	return req.Method == http.MethodGet && !isWatch(req) && slices.Contains(collections, last)
}

func hasMethod(method string) func(*http.Request) bool {
	return func(req *http.Request) bool { return req.Method == method }
}

func hasPathSuffix(suffix string) func(*http.Request) bool {
	return func(req *http.Request) bool { return strings.HasSuffix(req.URL.Path, suffix) }
}

// replaceText replaces a text.
func replaceText(old, with string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, old, with) }
}

// replaceInEvents replaces a text in the events of watches.
func replaceInEvents(old, with string) fault {
	return changeEvents(func(_ []string, event string) []string { return []string{strings.ReplaceAll(event, old, with)} })
}

// addToParameter adds to a number in the query.
func addToParameter(parameter string, by int) fault {
	return changeRequest(func(req *http.Request) {
		q := req.URL.Query()
		if n, err := strconv.Atoi(q.Get(parameter)); err == nil && n > 0 {
			q.Set(parameter, strconv.Itoa(n+by))
			req.URL.RawQuery = q.Encode()
		}
	})
}

// changePath changes the paths of requests.
func changePath(change func(string) string) fault {
	return changeRequest(func(req *http.Request) {
		req.URL = &url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: change(req.URL.Path), RawQuery: req.URL.RawQuery}
	})
}

// withoutMethod replaces a method by an unknown one.
func withoutMethod(method string) fault {
	return changeRequest(func(req *http.Request) {
		if req.Method == method {
			req.Method = "BREW"
		}
	})
}

// replaceVersionZero replaces resourceVersion=0 by another value.
func replaceVersionZero(instead string) fault {
	return changeRequest(func(req *http.Request) {
		req.URL.RawQuery = strings.Replace(req.URL.RawQuery, "resourceVersion=0", instead, 1)
	})
}

// editItems decodes a list, changes its items, and encodes it again.
func editItems(change func(items []json.RawMessage) []json.RawMessage) func(string) string {
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

func dropLastItem(s string) string {
	return editItems(func(items []json.RawMessage) []json.RawMessage { return items[:max(0, len(items)-1)] })(s)
}

func reverseItems(s string) string {
	return editItems(func(items []json.RawMessage) []json.RawMessage { slices.Reverse(items); return items })(s)
}

// addToNumber adds to the numbers that follow a text.
func addToNumber(after string, by int) func(string) string {
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

// increaseVersionOnRead returns a higher resourceVersion with each read.
func increaseVersionOnRead() fault {
	reads := 0
	return changeBody(hasMethod(http.MethodGet), func(s string) string {
		reads++
		return addToNumber(`"resourceVersion":"`, reads)(s)
	})
}

func shortenNames(s string) string {
	return regexp.MustCompile(`"name":"[^"]*`).ReplaceAllStringFunc(s, func(name string) string { return name[:len(name)-1] })
}

func insertVowels(s string) string {
	return regexp.MustCompile(`"name":"base-[^"]*`).ReplaceAllString(s, `"name":"base-aeiou`)
}

// decreaseVersions gives each event a lower resourceVersion than the one before.
func decreaseVersions(before []string, event string) []string {
	return []string{addToNumber(`"resourceVersion":"`, -10*len(before))(event)}
}

// abortStreams ends streams with an error of the connection.
func abortStreams(next http.RoundTripper) http.RoundTripper {
	return roundTripFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil && isWatch(req) {
			resp.Body = &abortedBody{resp.Body}
		}
		return resp, err
	})
}

type abortedBody struct{ io.ReadCloser }

func (d *abortedBody) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// keepNamespaceOfClusterScoped accepts and returns the namespace of a cluster-scoped object.
func keepNamespaceOfClusterScoped(next http.RoundTripper) http.RoundTripper {
	withoutNamespace := changeRequestBody(anyRequest, replaceText(`,"namespace":"somewhere"`, ""))
	return changeBody(hasPathSuffix("-cluster-scoped"), replaceText(`"metadata":{`, `"metadata":{"namespace":"somewhere",`))(withoutNamespace(next))
}

// Changes of paths.

func moveRoot(p string) string {
	if p == "/" {
		return "/nothing"
	}
	return p
}
