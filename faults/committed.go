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
func (resp *bufferedResponse) setBody(body []byte) {
	resp.Body.Reset()
	resp.Body.Write(body)
	if resp.Header().Get("Content-Length") != "" {
		resp.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
}

// decompress undoes the compressions that kube-apiserver uses.
func (resp *bufferedResponse) decompress() error {
	switch encoding := resp.Header().Get("Content-Encoding"); encoding {
	case "", "identity":
		return nil
	case "gzip":
	default:
		return fmt.Errorf("a body in %s cannot be read", encoding)
	}
	r, err := gzip.NewReader(&resp.Body)
	if err != nil {
		return fmt.Errorf("the body is not valid gzip: %w", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("the body is not valid gzip: %w", err)
	}
	resp.Header().Del("Content-Encoding")
	resp.setBody(plain)
	return nil
}

// serveCommitted runs next and applies the rules of the Committed phase to its response.
func serveCommitted(x *exchange, next http.Handler) outcome {
	resp := &bufferedResponse{responsewriter.NewBuffer(x.w.Header())}
	next.ServeHTTP(resp, x.r)
	if resp.Code == 0 {
		resp.Code = http.StatusOK
	}
	op := x.op
	op.Phase, op.Code = Committed, resp.Code
	o := x.applyRules(x.set.rules(), op, func(e Effect) outcome { return e.(committedEffect).applyCommitted(x, resp) })
	if o == proceed {
		resp.SendTo(x.w)
	}
	return o
}
