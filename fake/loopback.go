package fakeapi

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"example.com/fakeapi/internal/responsewriter"
)

// loopback is an http.RoundTripper for requests that the server sends to itself, without a network
// and as the user system:apiserver.
type loopback struct{ server *Server }

type loopbackKey struct{}

// isLoopback reports whether the server itself sent a request, by its context.
func isLoopback(ctx context.Context) bool { return ctx.Value(loopbackKey{}) != nil }

// RoundTrip implements http.RoundTripper. The request does not get the values of the context, which
// are those of the request that it is sent for.
func (l loopback) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), loopbackKey{}, true))
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	received := r.Clone(ctx)
	received.URL.Scheme, received.URL.Host = "", ""
	received.RequestURI, received.RemoteAddr = received.URL.RequestURI(), "127.0.0.1:0"
	w := responsewriter.NewBuffer(nil)
	err := l.serve(w, received)
	if r.Context().Err() != nil {
		err = r.Context().Err()
	}
	if err != nil {
		return nil, err
	}
	w.WriteHeader(http.StatusOK) // if it has no code
	return &http.Response{
		Status: strconv.Itoa(w.Code) + " " + http.StatusText(w.Code), StatusCode: w.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.Header(), Body: io.NopCloser(&w.Body), ContentLength: int64(w.Body.Len()), Request: r,
	}, nil
}

// serve serves a request. If its handler cuts the response off, it returns io.ErrUnexpectedEOF.
func (l loopback) serve(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			err = io.ErrUnexpectedEOF
		} else if p != nil {
			panic(p)
		}
	}()
	l.server.ServeHTTP(w, r)
	return nil
}
