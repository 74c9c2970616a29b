// Package guard keeps web pages from reaching a server on this machine through the browser of
// the person who looks at them. A page can have its own name lead to 127.0.0.1 (DNS
// rebinding), or send requests across origins; a browser then says so in the headers Host,
// Origin and Sec-Fetch-Site. Clients that are no browsers send neither of the latter.
//
// It knows nothing of Kubernetes: who refuses a request words the answer.
package originguard

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// IsLoopback reports whether a name or an IP address, without a port, is always this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// CheckHost tells why a request is refused that was sent under a name which is neither of this
// machine nor one of names; nil if it is not. A request of HTTP/1.0 may have none.
func CheckHost(r *http.Request, names ...string) error {
	host := hostWithoutPort(r.Host)
	if host == "" || IsLoopback(host) {
		return nil
	}
	for _, name := range names {
		if strings.EqualFold(host, name) {
			return nil
		}
	}
	return fmt.Errorf("the name %q is not one of this machine", host)
}

// hostWithoutPort takes the port off, and the brackets of an IPv6 address.
func hostWithoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// CheckOrigin tells why a request is refused that a browser sends for a page of another origin,
// this machine's other ports among them; nil if it is not. Following a link to here is not
// refused: the page that has it does not see what comes of it.
func CheckOrigin(r *http.Request) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "same-origin", site == "none":
		return nil
	case site != "" && !isNavigation(r):
		return fmt.Errorf("it comes from a web page of another origin (Sec-Fetch-Site: %s)", site)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
		return fmt.Errorf("it comes from a web page of another origin (%q)", origin)
	}
	return nil
}

// isNavigation reports whether a person opens an address as a page of its own.
func isNavigation(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// CheckNotFromWebPage tells why a request is refused that any web page at all has sent; nil if none has.
func CheckNotFromWebPage(r *http.Request) error {
	for _, name := range []string{"Sec-Fetch-Site", "Origin"} {
		if value := r.Header.Get(name); value != "" {
			return fmt.Errorf("it comes from a web page (%s: %s)", name, value)
		}
	}
	return nil
}
