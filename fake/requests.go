package fakeapi

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/fakeapi/fake/internal/authn"
)

// Request is a request that the server received.
type Request struct {
	// Time is when it arrived.
	Time time.Time
	// Method is the HTTP method, and Path is the path with the query.
	Method, Path string
	// Verb is the verb of the API, such as get, list or deletecollection. For paths that are not
	// resources it is the method in lower case.
	Verb string
	// Group, Version, Resource and Subresource are those of the path. They are empty for paths that
	// are not resources; Group is empty for the core group.
	Group, Version, Resource, Subresource string
	// Namespace is empty for cluster-scoped requests and for those for all namespaces. Name is
	// empty for collections, also for a create.
	Namespace, Name string
	// User is the name of the user, after impersonation. It is empty for a request that was not
	// authenticated. Without authentication a request without a token of a service account is one
	// of system:admin.
	User string
	// UserAgent is the header User-Agent.
	UserAgent string
	// Code is the status code of the response, or 0 as long as there is none.
	Code int
}

// String returns the request in one line: the user, the verb, the resource or path, and the code.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s ", r.User, r.Verb)
	if r.Resource == "" {
		b.WriteString(r.Path)
	} else {
		b.WriteString(r.Resource)
		if r.Group != "" {
			b.WriteString("." + r.Group)
		}
		if r.Subresource != "" {
			b.WriteString("/" + r.Subresource)
		}
		if r.Name != "" {
			b.WriteString(" " + r.Name)
		}
		if r.Namespace != "" {
			b.WriteString(" in " + r.Namespace)
		}
	}
	fmt.Fprintf(&b, " %d", r.Code)
	return b.String()
}

// Requests returns the requests that the server received, in the order of their arrival, for tests
// that check what a client asked. It has the same requests as Timeline: the latest 1000, and those
// that have no complete response yet. Requests of the control API are not included, and
// WithoutTimeline disables it.
func (s *Server) Requests() []Request {
	var all []Request
	for _, x := range s.recorder.Timeline().Exchanges {
		all = append(all, Request{
			Time: x.Begin, Method: x.Method, Path: x.Path, Verb: x.Info.Verb,
			Group: x.Info.Group, Version: x.Info.Version, Resource: x.Info.Resource, Subresource: x.Info.Subresource,
			Namespace: x.Info.Namespace, Name: x.Info.Name,
			User: s.userName(x.User, x.StatusCode), UserAgent: x.UserAgent, Code: x.StatusCode,
		})
	}
	return all
}

// userName returns the name of a user that the timeline recorded with the code of the response.
// Without authentication it is that of the administrator unless the request impersonated a user, or
// had a token of a service account.
func (s *Server) userName(recorded string, code int) string {
	if recorded == "" && code != http.StatusUnauthorized && !s.opts.authenticationEnabled() {
		return authn.AdminUser().Username
	}
	return recorded
}
