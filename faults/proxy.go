package faults

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Proxy returns a reverse proxy to the API server at base that applies the rules of set. transport
// connects to the server and adds credentials if necessary. The frames of watches are forwarded at
// once. Upgraded connections (exec, attach, port-forward) work if transport uses HTTP/1.1, because
// HTTP/2 does not support SPDY. If the server cannot be reached, the response is a 502 with a
// Status that has the reason.
//
// All clients of the proxy use the credentials of transport, so listen on a loopback address only.
func Proxy(set *Set, base *url.URL, transport http.RoundTripper) http.Handler {
	return Handler(set, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(base)
			if r.Out.Header.Get("Accept-Encoding") == "" {
				// Otherwise http.Transport asks for gzip, which delays watches.
				r.Out.Header.Set("Accept-Encoding", "identity")
			}
		},
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  writeUnreachable,
		ErrorLog:      log.New(io.Discard, "", 0), // ignore errors of disconnected clients
	})
}

func writeUnreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client has disconnected, or a rule has ended the request
	}
	writeStatus(w, r, completeStatus(metav1.Status{
		Code:    http.StatusBadGateway,
		Message: "the fault proxy cannot reach the server: " + err.Error(),
	}, NewOp(r)))
}
