package negotiate

import (
	"context"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// supportedMedia is what a server has to give, in the words of its 406 and 415 answers.
type supportedMedia struct {
	last                     Media // the last of those that are served
	objectTypes, streamTypes string
}

const (
	supportedObjectTypes = runtime.ContentTypeJSON + ", " + runtime.ContentTypeYAML + ", " + runtime.ContentTypeProtobuf
	supportedStreamTypes = runtime.ContentTypeJSON + ";stream=watch, " + runtime.ContentTypeProtobuf + ";stream=watch"
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

func supportedBy(r *http.Request) supportedMedia {
	if IsCBOREnabled(r) {
		return supportedMedia{CBOR, supportedObjectTypes + ", " + runtime.ContentTypeCBOR, supportedStreamTypes + ", " + runtime.ContentTypeCBORSequence}
	}
	return supportedMedia{Protobuf, supportedObjectTypes, supportedStreamTypes}
}

// isRoutable is the router's check: one of the listed types is served, whatever
// its parameters. It knows */* but not application/*. Of a sequence of CBOR it
// knows that there are some, which is no reason yet to get one.
func (media supportedMedia) isRoutable(header string, e Endpoint) bool {
	for item := range strings.SplitSeq(header, ",") {
		item, _, _ = strings.Cut(item, ";")
		switch strings.TrimSpace(item) {
		case "*/*", runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf:
			return true
		case runtime.ContentTypeCBOR:
			if media.last == CBOR {
				return true
			}
		case runtime.ContentTypeCBORSequence:
			if media.last == CBOR && e == Collection {
				return true
			}
		}
	}
	return false
}
