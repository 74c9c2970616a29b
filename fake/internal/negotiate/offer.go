package negotiate

import (
	"context"
	"net/http"
	"strings"
)

// offer is what a server has to give, in the words of its 406 and 415 answers.
type offer struct {
	last           Media // the last of those that are served
	object, stream string
}

const (
	offeredObject = TypeJSON + ", " + TypeYAML + ", " + TypeProtobuf
	offeredStream = TypeJSON + ";stream=watch, " + TypeProtobuf + ";stream=watch"
)

// cborKey marks the context of a request to a server that has CBOR.
type cborKey struct{}

// WithCBOR gives the request to a server that has CBOR, which is an alpha feature and off by default
// (CB-01). All other functions know by the request what is offered.
func WithCBOR(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), cborKey{}, true))
}

// IsCBOREnabled reports whether the server of a request has CBOR.
func IsCBOREnabled(r *http.Request) bool { return r.Context().Value(cborKey{}) != nil }

func offerOf(r *http.Request) offer {
	if IsCBOREnabled(r) {
		return offer{CBOR, offeredObject + ", " + TypeCBOR, offeredStream + ", " + TypeCBORSequence}
	}
	return offer{Protobuf, offeredObject, offeredStream}
}

// routable is the router's check: one of the listed types is served, whatever
// its parameters. It knows */* but not application/*. Of a sequence of CBOR it
// knows that there are some, which is no reason yet to get one.
func (o offer) routable(header string, e Endpoint) bool {
	for item := range strings.SplitSeq(header, ",") {
		item, _, _ = strings.Cut(item, ";")
		switch strings.TrimSpace(item) {
		case "*/*", TypeJSON, TypeYAML, TypeProtobuf:
			return true
		case TypeCBOR:
			if o.last == CBOR {
				return true
			}
		case TypeCBORSequence:
			if o.last == CBOR && e == Collection {
				return true
			}
		}
	}
	return false
}
