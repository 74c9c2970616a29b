// Package frames finds the frames of a watch in the bytes of its stream: one event
// each, in JSON, protobuf or CBOR. It is pure, so that the fault rules, which change
// frames, and the timeline, which remembers them, agree about where one ends.
package frames

import (
	"bytes"
	"encoding/binary"
	"mime"
)

// The media types of streams that can be taken apart.
const (
	TypeJSON     = "application/json"
	TypeProtobuf = "application/vnd.kubernetes.protobuf"
	// TypeCBOR is a sequence of items, one an event (RFC 8742).
	TypeCBOR = "application/cbor-seq"
)

// Splitter finds the ends of frames in a stream that comes in pieces.
type Splitter interface {
	// Take says how many bytes of p, which is not empty, belong to the frame at
	// hand, and whether the frame ends there.
	Take(p []byte) (n int, complete bool)
}

// NewSplitter makes the Splitter of a stream by its media type, without parameters;
// nil if its frames cannot be read.
func NewSplitter(media string) Splitter {
	switch media {
	case TypeJSON:
		return lineSplitter{}
	case TypeProtobuf:
		return &lengthSplitter{}
	case TypeCBOR:
		return &itemSplitter{}
	}
	return nil
}

// MediaType is a Content-Type without its parameters, "" for one that is malformed.
func MediaType(contentType string) string {
	switch contentType { // most are one of these
	case TypeJSON, TypeProtobuf:
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

// Take implements Splitter.
func (lineSplitter) Take(p []byte) (int, bool) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return i + 1, true
	}
	return len(p), false
}

// LengthSize is how many bytes tell the length of a frame in protobuf, the highest
// first.
const LengthSize = 4

// lengthSplitter is for protobuf: a length, and an event of that length.
type lengthSplitter struct {
	head [LengthSize]byte
	have int    // bytes of head
	left uint32 // bytes of the message, once head is complete
}

// Take implements Splitter.
func (s *lengthSplitter) Take(p []byte) (int, bool) {
	n := 0
	if s.have < LengthSize {
		n = copy(s.head[s.have:], p)
		if s.have += n; s.have < LengthSize {
			return n, false
		}
		s.left = binary.BigEndian.Uint32(s.head[:])
	}
	body := min(uint64(len(p)-n), uint64(s.left))
	s.left -= uint32(body)
	if s.left == 0 {
		s.have = 0
		return n + int(body), true
	}
	return n + int(body), false
}
