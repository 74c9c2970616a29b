// Package originguard protects a server on the local machine from requests that web pages send
// through the user's browser. A page can make its own host name resolve to 127.0.0.1 (DNS
// rebinding) or send cross-origin requests. Browsers identify such requests by the headers Host,
// Origin and Sec-Fetch-Site. Clients that are not browsers do not send the last two.
//
// The functions return an error with the reason, and callers write the response.
package originguard

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// IsLoopback reports whether a host name or IP address without port always means the local machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// CheckHost returns an error if the Host of the request is neither a loopback address nor one of
// names. An empty Host, as in HTTP/1.0, is allowed.
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

// hostWithoutPort removes the port, and the brackets of an IPv6 address.
func hostWithoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// CheckOrigin returns an error for a request that a browser sends for a page of another origin,
// including other ports of the local machine. Following a link is allowed, because the page cannot
// read the response.
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

// isNavigation reports whether the request opens a URL as a page of its own.
func isNavigation(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// CheckNotFromWebPage returns an error for a request that a web page of any origin has sent.
func CheckNotFromWebPage(r *http.Request) error {
	for _, name := range []string{"Sec-Fetch-Site", "Origin"} {
		if value := r.Header.Get(name); value != "" {
			return fmt.Errorf("it comes from a web page (%s: %s)", name, value)
		}
	}
	return nil
}
