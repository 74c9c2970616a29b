// Package frames finds the frames of a watch in the bytes of its stream: one event
// each, in JSON, protobuf or CBOR. It is pure, so that the fault rules, which change
// frames, and the timeline, which remembers them, agree about where one ends.
package frames

import (
	"bytes"
	"encoding/binary"
	"mime"

	"k8s.io/apimachinery/pkg/runtime"
)

// ProtobufPrefix is the first bytes of every protobuf body of the Kubernetes API.
const ProtobufPrefix = "k8s\x00"

// Splitter finds the ends of frames in a stream that comes in pieces.
type Splitter interface {
	// Advance says how many bytes of p, which is not empty, belong to the frame at
	// hand, and whether the frame ends there.
	Advance(p []byte) (n int, complete bool)
}

// NewSplitter makes the Splitter of a stream by its media type, without parameters;
// nil if its frames cannot be read.
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

// MediaType is a Content-Type without its parameters, "" for one that is malformed.
func MediaType(contentType string) string {
	switch contentType { // most are one of these
	case runtime.ContentTypeJSON, runtime.ContentTypeProtobuf:
		return contentType
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return media
}

// lineSplitter is for JSON: one event a line.
type lineSplitter struct{}

// Advance implements Splitter.
func (lineSplitter) Advance(p []byte) (int, bool) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return i + 1, true
	}
	return len(p), false
}

// LengthPrefixSize is how many bytes tell the length of a frame in protobuf, the highest
// first.
const LengthPrefixSize = 4

// lengthSplitter is for protobuf: a length, and an event of that length.
type lengthSplitter struct {
	prefix    [LengthPrefixSize]byte
	prefixLen int    // bytes of head
	remaining uint32 // bytes of the message, once head is complete
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
