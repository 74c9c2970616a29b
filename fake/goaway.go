package fakeapi

import (
	"fmt"
	"math/rand/v2"
	"net/http"
)

// WithGoawayChance sets the chance with which the response to an HTTP/2 request sends a GOAWAY,
// from 0, the default, to 1, as --goaway-chance of kube-apiserver does, whose maximum is 0.02. The
// client opens another connection for its next request; requests in flight go on. It has no effect
// over HTTP/1.1. faults.GoAway does so for chosen requests. A replica has a chance of its own.
func WithGoawayChance(chance float64) Option {
	return func(o *options) error {
		if !(chance >= 0 && chance <= 1) {
			return fmt.Errorf("fakeapi: the goaway chance %v is not from 0 to 1", chance)
		}
		o.goawayChance = chance
		return nil
	}
}

// withGoaway ends the connections of some requests.
func (s *Server) withGoaway(next http.Handler) http.Handler {
	chance := s.opts.goawayChance
	if chance == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && rand.Float64() < chance {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
