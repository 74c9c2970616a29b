package timeline

import (
	"context"
	"net/http"
)

// recordedRequest has the context and the body of a recorded request.
type recordedRequest struct {
	context requestContext
	body    recordingReader
}

// requestContext is the context of a recorded request.
type requestContext struct {
	context.Context
	x *recording
}

type contextKey struct{}

// Value implements context.Context.
func (c *requestContext) Value(key any) any {
	if key == (contextKey{}) {
		return c.x
	}
	return c.Context.Value(key)
}

// observe returns the request with a body that records what is read from it, and with a context
// that leads to the recording.
func (x *recording) observe(r *http.Request) *http.Request {
	body := hasBody(r)
	if !body && !x.mayBeReviewed() {
		return r
	}
	o := &recordedRequest{requestContext{r.Context(), x}, recordingReader{r.Body, x}}
	r = r.WithContext(&o.context)
	if body {
		r.Body = &o.body
	}
	return r
}

// mayBeReviewed reports whether admission may review the request: it is a write, or connects to a
// subresource.
func (x *recording) mayBeReviewed() bool {
	return x.info.IsResourceRequest() && (!x.info.IsReadOnly() || x.info.Subresource != "")
}
