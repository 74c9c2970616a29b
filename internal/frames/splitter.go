// Package frames splits the stream of a watch into frames of one event each, in JSON, protobuf or
// CBOR. It is used by the fault rules, which edit frames, and the timeline, which records them.
package frames

import (
	"bytes"
	"encoding/binary"
	"mime"

	"k8s.io/apimachinery/pkg/runtime"
)

// ProtobufPrefix is the prefix of every protobuf body in the Kubernetes API.
const ProtobufPrefix = "k8s\x00"

// Splitter finds the ends of frames in a stream that arrives in parts.
type Splitter interface {
	// Advance returns how many bytes of p belong to the current frame and whether the frame ends
	// there. p must not be empty.
	Advance(p []byte) (n int, complete bool)
}

// NewSplitter returns a Splitter for streams of a media type without parameters, or nil if the type
// is not supported.
func NewSplitter(media string) Splitter {
	switch media {
	case runtime.ContentTypeJSON:
		return lineSplitter{}
	case runtime.ContentTypeProtobuf:
		return &lengthSplitter{}
	case runtime.ContentTypeCBORSequence:
		return &cborSplitter{}
	}
	return nil
}

// MediaType returns the media type of a Content-Type without parameters, or "" if it is malformed.
func MediaType(contentType string) string {
	switch contentType { // fast path
	case runtime.ContentTypeJSON, runtime.ContentTypeProtobuf:
		return contentType
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return media
}

// lineSplitter splits JSON, with one event on each line.
type lineSplitter struct{}

// Advance implements Splitter.
func (lineSplitter) Advance(p []byte) (int, bool) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return i + 1, true
	}
	return len(p), false
}

// LengthPrefixSize is the size of the length before each protobuf frame, in big-endian order.
const LengthPrefixSize = 4

// lengthSplitter splits protobuf, in which each event follows its length.
type lengthSplitter struct {
	prefix    [LengthPrefixSize]byte
	prefixLen int    // number of bytes in prefix
	remaining uint32 // remaining bytes of the event, once prefix is complete
}

// Advance implements Splitter.
func (s *lengthSplitter) Advance(p []byte) (int, bool) {
	n := 0
	if s.prefixLen < LengthPrefixSize {
		n = copy(s.prefix[s.prefixLen:], p)
		if s.prefixLen += n; s.prefixLen < LengthPrefixSize {
			return n, false
		}
		s.remaining = binary.BigEndian.Uint32(s.prefix[:])
	}
	body := min(uint64(len(p)-n), uint64(s.remaining))
	s.remaining -= uint32(body)
	if s.remaining == 0 {
		s.prefixLen = 0
		return n + int(body), true
	}
	return n + int(body), false
}
