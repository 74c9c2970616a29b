package negotiate

import (
	"context"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// supportedMedia has the media types that a server supports, and their lists in the messages of a
// 406 and a 415.
type supportedMedia struct {
	last                     Media // the last Media that is supported
	objectTypes, streamTypes string
}

const (
	plainText            = "text/plain"
	supportedObjectTypes = runtime.ContentTypeJSON + ", " + runtime.ContentTypeYAML + ", " + runtime.ContentTypeProtobuf
	supportedStreamTypes = runtime.ContentTypeJSON + ";stream=watch, " + runtime.ContentTypeProtobuf + ";stream=watch"
)

// cborKey is the context key of requests to a server with CBOR.
type cborKey struct{}

// WithCBOR returns the request marked as sent to a server with CBOR, which is an alpha feature and
// off by default (CB-01). The other functions of this package read the mark.
func WithCBOR(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), cborKey{}, true))
}

// IsCBOREnabled reports whether the request was marked by WithCBOR.
func IsCBOREnabled(r *http.Request) bool { return r.Context().Value(cborKey{}) != nil }

func supportedBy(r *http.Request) supportedMedia {
	if IsCBOREnabled(r) {
		return supportedMedia{CBOR, supportedObjectTypes + ", " + runtime.ContentTypeCBOR, supportedStreamTypes + ", " + runtime.ContentTypeCBORSequence}
	}
	return supportedMedia{Protobuf, supportedObjectTypes, supportedStreamTypes}
}

// isRoutable is the router's check: it reports whether header lists a supported media type,
// ignoring parameters. The router knows */* but not application/*. It accepts a CBOR sequence for a
// collection, although the negotiation that follows may not.
func (media supportedMedia) isRoutable(header string, e Endpoint) bool {
	for item := range strings.SplitSeq(header, ",") {
		item, _, _ = strings.Cut(item, ";")
		switch strings.Trim(item, " ") { // a tab is part of the type
		case "*/*", runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf:
			return true
		case plainText:
			if e == Log {
				return true
			}
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
