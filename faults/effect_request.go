package faults

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"example.com/fakeapi/internal/requestinfo"
)

// SetRequestHeader sets a header of the request to these values before the request is handled.
// Without values the header is removed. With Accept, it simulates a server that does not support a
// media type.
func SetRequestHeader(name string, values ...string) Effect {
	return requestHeader{headerValues{name, append([]string(nil), values...)}}
}

type requestHeader struct{ headerValues }

func (e requestHeader) String() string { return e.callText("requestHeader") }

func (e requestHeader) applyBefore(x *exchange) outcome {
	r := *x.r
	r.Header = x.r.Header.Clone()
	e.setIn(r.Header)
	x.r = requestinfo.WithRequestInfo(&r)
	return proceed
}

// Ignore removes parameters from the URL before the request is handled, to simulate a server that
// does not support them. Rules still see the original request.
func Ignore(parameters ...string) Effect { return ignore{append([]string(nil), parameters...)} }

type ignore struct{ parameters []string }

func (e ignore) String() string { return callText("ignore", quoteAll(e.parameters)...) }
func (ignore) isFinal() bool    { return false }
func (e ignore) check() error {
	if len(e.parameters) == 0 {
		return errors.New("ignore needs at least one parameter")
	}
	if slices.Contains(e.parameters, "watch") {
		return errors.New("ignore cannot remove the parameter watch, because a watch without it is a list")
	}
	return nil
}

func (e ignore) applyBefore(x *exchange) outcome {
	query := x.r.URL.Query()
	for _, p := range e.parameters {
		query.Del(p)
	}
	r := *x.r
	r.URL = new(*x.r.URL)
	r.URL.RawQuery = query.Encode()
	r.RequestURI = r.URL.RequestURI()
	x.r = requestinfo.WithRequestInfo(&r)
	return proceed
}

// Redirect responds with 307 Temporary Redirect to the same path and query at base, for instance
// "https://other:6443". If base is "", the redirect is to the same server, which is a loop.
func Redirect(base string) Effect { return redirect{base} }

type redirect struct{ base string }

func (e redirect) String() string { return callText("redirect", quote(e.base)) }
func (redirect) isFinal() bool    { return true }
func (e redirect) check() error {
	u, err := url.Parse(e.base)
	if err != nil || e.base != "" && (u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "") {
		return fmt.Errorf("redirect takes SCHEME://HOST or \"\", not %q", e.base)
	}
	return nil
}

func (e redirect) applyBefore(x *exchange) outcome {
	http.Redirect(x.w, x.r, e.base+x.r.URL.RequestURI(), http.StatusTemporaryRedirect)
	return finished
}

// LateHeader delays the response header of a watch until its first frame is sent, so the client
// does not learn before that the watch has started. kube-apiserver sends the header at once.
func LateHeader() Effect { return lateHeader{} }

type lateHeader struct{}

func (lateHeader) String() string { return "lateHeader" }
func (lateHeader) isFinal() bool  { return false }
func (lateHeader) check() error   { return nil }
func (lateHeader) watchOnly()     {}

func (lateHeader) applyBefore(x *exchange) outcome {
	x.holdHeader = true
	return proceed
}
