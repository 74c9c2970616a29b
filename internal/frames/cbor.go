package frames

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// CBORSelfDescribedTag stands in front of an item that says that it is CBOR: tag 55799.
const CBORSelfDescribedTag = "\xd9\xd9\xf7"

// CBORToJSON gives a frame of CBOR in JSON, with a newline behind it. It is slow: what is
// wanted of a frame is little, and frames in CBOR are rare.
func CBORToJSON(frame []byte) ([]byte, error) {
	var event any
	if err := direct.Unmarshal(bytes.TrimPrefix(frame, []byte(CBORSelfDescribedTag)), &event); err != nil {
		return nil, err
	}
	text, err := json.Marshal(event)
	return append(text, '\n'), err
}

// The major types of CBOR that the splitter tells apart (RFC 8949, 3.1); the rest is
// complete with its head.
const (
	cborBytes = 2
	cborText  = 3
	cborArray = 4
	cborMap   = 5
	cborTag   = 6
	cborOther = 7
)

// cborUntilBreak is what an item has inside that does not say how much it is.
const cborUntilBreak = -1

// itemSplitter finds the ends of CBOR items (RFC 8949, appendix C). Bytes that are no
// CBOR are passed on as they come.
type itemSplitter struct {
	head []byte // of the item at hand, as far as it is here
	skip uint64 // bytes of a string that are still to come
	// open is how many items each of those that are not complete has still to come.
	open []int64
}

// Advance implements Splitter.
func (s *itemSplitter) Advance(p []byte) (int, bool) {
	for n := 0; ; {
		if jump := min(uint64(len(p)-n), s.skip); jump > 0 {
			n += int(jump)
			if s.skip -= jump; s.skip == 0 && s.completed() {
				return n, true
			}
		}
		if n == len(p) {
			return n, false
		}
		s.head = append(s.head, p[n])
		n++
		if len(s.head) < headSize(s.head[0]) {
			continue
		}
		complete, ok := s.begin()
		s.head = s.head[:0]
		if !ok {
			s.open, s.skip = s.open[:0], 0
			return len(p), true
		}
		if complete && s.completed() {
			return n, true
		}
	}
}

// headSize is how many bytes the head of an item has that begins with b.
func headSize(b byte) int {
	if info := b & 0x1f; info >= 24 && info <= 27 {
		return 1 + 1<<(info-24)
	}
	return 1
}

// begin begins the item whose head is here; complete tells that it is all there is of it.
func (s *itemSplitter) begin() (complete, ok bool) {
	major, info := s.head[0]>>5, s.head[0]&0x1f
	if info >= 28 && info <= 30 {
		return false, false
	}
	if info == 31 {
		return s.beginUntilBreak(major)
	}
	var wide [8]byte
	argument := uint64(info)
	if n := len(s.head) - 1; n > 0 {
		copy(wide[8-n:], s.head[1:])
		argument = binary.BigEndian.Uint64(wide[:])
	}
	const most = 1 << 40 // more than there can be
	switch {
	case major >= cborBytes && major <= cborMap && argument > most:
		return false, false
	case major == cborBytes, major == cborText:
		s.skip = argument
		return argument == 0, true
	case major == cborArray, major == cborMap:
		s.open = append(s.open, int64(argument)*int64(major-cborArray+1))
		if argument == 0 {
			s.open = s.open[:len(s.open)-1]
		}
		return argument == 0, true
	case major == cborTag:
		s.open = append(s.open, 1)
		return false, true
	}
	return true, true
}

// beginUntilBreak begins an item that goes on until a break, or is that break.
func (s *itemSplitter) beginUntilBreak(major byte) (complete, ok bool) {
	switch major {
	case cborBytes, cborText, cborArray, cborMap:
		s.open = append(s.open, cborUntilBreak)
		return false, true
	case cborOther:
		last := len(s.open) - 1
		if last < 0 || s.open[last] != cborUntilBreak {
			return false, false
		}
		s.open = s.open[:last]
		return true, true
	}
	return false, false
}

// completed notes that an item is complete, and reports whether it was the frame.
func (s *itemSplitter) completed() bool {
	for len(s.open) > 0 {
		last := len(s.open) - 1
		if s.open[last] == cborUntilBreak {
			return false
		}
		if s.open[last]--; s.open[last] > 0 {
			return false
		}
		s.open = s.open[:last]
	}
	return true
}
