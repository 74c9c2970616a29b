package faults

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"example.com/fakeapi/internal/responsewriter"
)

// bufferedResponse is a complete response that has not been sent.
type bufferedResponse struct{ *responsewriter.Buffer }

// setBody replaces the body.
func (a *bufferedResponse) setBody(body []byte) {
	a.Body.Reset()
	a.Body.Write(body)
	if a.Header().Get("Content-Length") != "" {
		a.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
}

// decompress undoes the compressions that kube-apiserver uses.
func (a *bufferedResponse) decompress() error {
	switch encoding := a.Header().Get("Content-Encoding"); encoding {
	case "", "identity":
		return nil
	case "gzip":
	default:
		return fmt.Errorf("a body in %s cannot be read", encoding)
	}
	r, err := gzip.NewReader(&a.Body)
	if err != nil {
		return fmt.Errorf("the body is not valid gzip: %w", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("the body is not valid gzip: %w", err)
	}
	a.Header().Del("Content-Encoding")
	a.setBody(plain)
	return nil
}

// serveCommitted runs next and applies the rules of the Committed phase to its response.
func serveCommitted(x *exchange, next http.Handler) outcome {
	a := &bufferedResponse{responsewriter.NewBuffer(x.w.Header())}
	next.ServeHTTP(a, x.r)
	if a.Code == 0 {
		a.Code = http.StatusOK
	}
	op := x.op
	op.Phase, op.Code = Committed, a.Code
	o := x.applyRules(x.set.rules(), op, func(e Effect) outcome { return e.(committedEffect).applyCommitted(x, a) })
	if o == proceed {
		a.SendTo(x.w)
	}
	return o
}
