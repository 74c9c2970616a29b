package fakeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/internal/requestinfo"
)

// requestJSON is the JSON form of a request.
type requestJSON struct {
	Seq uint64 `json:"seq"`
	// Order is the number for the parameter since.
	Order  uint64    `json:"order"`
	Time   time.Time `json:"time"`
	Method string    `json:"method"`
	// Path has the query.
	Path string `json:"path"`
	// Verb and the fields up to Name are those of a request for a resource.
	Verb        string `json:"verb,omitempty"`
	Group       string `json:"group,omitempty"`
	Version     string `json:"version,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
	User        string `json:"user,omitempty"`
	// Code is the status code, or 0 if there is no response.
	Code      int    `json:"code"`
	UserAgent string `json:"userAgent"`
}

func (s *Server) toRequestJSON(x timeline.Exchange) requestJSON {
	return requestJSON{
		Seq: x.Seq, Order: x.Order, Time: x.Begin, Method: x.Method, Path: x.Path, Verb: x.Verb,
		Group: x.Info.Group, Version: x.Info.Version, Resource: x.Info.Resource, Subresource: x.Info.Subresource,
		Namespace: x.Info.Namespace, Name: x.Info.Name,
		User: s.userName(x.User, x.StatusCode), Code: x.StatusCode, UserAgent: x.UserAgent,
	}
}

// String returns the request in one line, without number and time.
func (s requestJSON) String() string {
	return fmt.Sprintf("%3d %s %s %q", s.Code, s.Method, s.Path, s.UserAgent)
}

// requestFilter is a parameter that selects requests.
type requestFilter struct {
	controlParameter
	matches func(x timeline.Exchange, value string) bool
	// check returns an error for a value that no request can have. It may be nil.
	check func(value string) error
}

// requestFilters are the parameters that select requests.
func requestFilters() []requestFilter {
	return []requestFilter{
		{controlParameter{"verb", "these verbs, separated by commas: get, list, watch, create, update, patch, delete, deletecollection"},
			func(x timeline.Exchange, v string) bool { return x.Verb == v }, checkVerb},
		{controlParameter{"resource", "these resources: PLURAL, PLURAL.GROUP or PLURAL/SUBRESOURCE, separated by commas"},
			func(x timeline.Exchange, v string) bool { return x.Info.QualifiedResource() == v }, nil},
		{controlParameter{"namespace", "these namespaces"}, func(x timeline.Exchange, v string) bool { return x.Info.Namespace == v }, nil},
		{controlParameter{"name", "these names of objects; a create has none"}, func(x timeline.Exchange, v string) bool { return x.Info.Name == v }, nil},
		{controlParameter{"path", "a path that begins with this"}, func(x timeline.Exchange, v string) bool { return strings.HasPrefix(x.Path, v) }, nil},
		{controlParameter{"userAgent", "a user agent that begins with this"},
			func(x timeline.Exchange, v string) bool { return strings.HasPrefix(x.UserAgent, v) }, nil},
		{controlParameter{"code", "these status codes"}, func(x timeline.Exchange, v string) bool { return strconv.Itoa(x.StatusCode) == v }, checkCode},
	}
}

func requestParameters() (parameters []controlParameter) {
	for _, f := range requestFilters() {
		parameters = append(parameters, controlParameter{f.Name, "only requests with " + f.Doc})
	}
	return parameters
}

func checkVerb(value string) error {
	known := []string{
		requestinfo.Get, requestinfo.List, requestinfo.Watch, requestinfo.Create, requestinfo.Update, requestinfo.Patch,
		requestinfo.Delete, requestinfo.DeleteCollection,
	}
	if !slices.Contains(known, value) {
		return apierrors.NewBadRequest(fmt.Sprintf("verb: %q is none of %s", value, strings.Join(known, ", ")))
	}
	return nil
}

func checkCode(value string) error {
	if code, err := strconv.Atoi(value); err != nil || code < 100 || code > 599 {
		return apierrors.NewBadRequest(fmt.Sprintf("code: %q is not a status code", value))
	}
	return nil
}

// readRequestFilters returns whether an exchange is one that the parameters select.
func readRequestFilters(r *http.Request) (func(timeline.Exchange) bool, error) {
	var all []func(timeline.Exchange) bool
	for _, f := range requestFilters() {
		text := r.URL.Query().Get(f.Name)
		if text == "" {
			continue
		}
		values := strings.Split(text, ",")
		if f.Name == "userAgent" || f.Name == "path" { // may have commas
			values = []string{text}
		}
		for _, v := range values {
			if f.check != nil {
				if err := f.check(v); err != nil {
					return nil, err
				}
			}
		}
		all = append(all, func(x timeline.Exchange) bool {
			return slices.ContainsFunc(values, func(v string) bool { return f.matches(x, v) })
		})
	}
	return func(x timeline.Exchange) bool {
		return !slices.ContainsFunc(all, func(matches func(timeline.Exchange) bool) bool { return !matches(x) })
	}, nil
}

// listRequests responds with the requests that the parameters select. With wait, it waits for count
// of them that have a response or have ended.
func (c *controlAPI) listRequests(w http.ResponseWriter, r *http.Request) error {
	since, err := c.sinceParam(r)
	if err != nil {
		return err
	}
	p, err := readWaitParams(r)
	if err != nil {
		return err
	}
	selected, err := readRequestFilters(r)
	if err != nil {
		return err
	}
	if p.wait > 0 && !c.server.opts.timeline {
		return apierrors.NewBadRequest("the server has no record of requests, because of WithoutTimeline")
	}
	recorder := c.server.recorder
	fields, err := c.await(w, r, p, func() (bool, <-chan struct{}) {
		changed, found := recorder.Changed(), 0
		for _, x := range recorder.RequestsSince(since) {
			if (x.StatusCode != 0 || !x.End.IsZero()) && selected(x) {
				found++
			}
		}
		return found >= p.count, changed
	})
	if err != nil {
		return err
	}
	next := recorder.Order()
	var list []requestJSON
	for _, x := range recorder.RequestsSince(since) {
		if x.Order <= next && selected(x) {
			list = append(list, c.server.toRequestJSON(x))
		}
	}
	setNext(w, next)
	return writeList(w, r, http.StatusOK, "requests", list, append(fields, "next", next)...)
}
