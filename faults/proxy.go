package faults

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Proxy puts the rules of set in front of the API server at base, which transport
// reaches and, if need be, authenticates to. Watches pass frame by frame, as they come.
// Connections that are upgraded (exec, attach, port-forward) pass if transport speaks
// HTTP/1.1 to the server: over HTTP/2 there is no SPDY. A server that cannot be reached is
// answered with 502 and a Status that says why.
//
// Whoever reaches the proxy acts with the credentials of transport: keep it on loopback.
func Proxy(set *Set, base *url.URL, transport http.RoundTripper) http.Handler {
	return Handler(set, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(base)
			if r.Out.Header.Get("Accept-Encoding") == "" {
				// Else http.Transport asks for gzip by itself, and a watch comes late.
				r.Out.Header.Set("Accept-Encoding", "identity")
			}
		},
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  writeUnreachable,
		ErrorLog:      log.New(io.Discard, "", 0), // of clients that leave
	})
}

func writeUnreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client has left, or a rule has ended the request
	}
	writeStatus(w, r, completeStatus(metav1.Status{
		Code:    http.StatusBadGateway,
		Message: "the proxy of the fault rules cannot reach the server: " + err.Error(),
	}, NewOp(r)))
}
