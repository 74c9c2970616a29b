package requestinfo

import (
	"context"
	"net/http"
	"sync/atomic"
)

// infoContext is a context with the RequestInfo of a request.
type infoContext struct {
	context.Context
	info    RequestInfo
	request *http.Request // the request with this context
	user    atomic.Pointer[string]
	number  atomic.Uint64
}

type contextKey struct{}

// Value implements context.Context.
func (c *infoContext) Value(key any) any {
	if key == (contextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// WithRequestInfo returns a copy of r with its RequestInfo in its context. A handler that changes
// the URL calls it again.
func WithRequestInfo(r *http.Request) *http.Request {
	c := &infoContext{Context: r.Context(), info: New(r)}
	c.request = r.WithContext(c)
	return c.request
}

// RequestFromContext returns the request that ctx belongs to, as WithRequestInfo returned it, or
// nil if there is none.
func RequestFromContext(ctx context.Context) *http.Request {
	if c, ok := ctx.Value(contextKey{}).(*infoContext); ok {
		return c.request
	}
	return nil
}

// FromRequest returns the RequestInfo in the context of r. If there is none, it parses r. The
// result must not be changed.
func FromRequest(r *http.Request) *RequestInfo {
	if c, ok := r.Context().Value(contextKey{}).(*infoContext); ok {
		return &c.info
	}
	info := New(r)
	return &info
}

// SetUserName records the name of the user of a request in its context, for the filters outside of
// authentication. It does nothing if the context has no RequestInfo.
func SetUserName(ctx context.Context, name string) {
	for {
		c, ok := ctx.Value(contextKey{}).(*infoContext)
		if !ok {
			return
		}
		c.user.Store(&name)
		ctx = c.Context
	}
}

// UserName returns the name that SetUserName recorded last, or "".
func UserName(ctx context.Context) string {
	if c, ok := ctx.Value(contextKey{}).(*infoContext); ok {
		if name := c.user.Load(); name != nil {
			return *name
		}
	}
	return ""
}

// SetNumber records the number of a request in the timeline in its context. It does nothing if the
// context has no RequestInfo.
func SetNumber(ctx context.Context, number uint64) {
	if c, ok := ctx.Value(contextKey{}).(*infoContext); ok {
		c.number.Store(number)
	}
}

// Number returns the number that SetNumber recorded, or 0.
func Number(ctx context.Context) uint64 {
	for {
		c, ok := ctx.Value(contextKey{}).(*infoContext)
		if !ok {
			return 0
		}
		if n := c.number.Load(); n != 0 {
			return n
		}
		ctx = c.Context
	}
}
