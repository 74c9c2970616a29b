package frames

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// CBORSelfDescribedTag is the encoded tag 55799, which marks an item as CBOR.
const CBORSelfDescribedTag = "\xd9\xd9\xf7"

// CBORToJSON converts a CBOR frame to JSON with a newline at the end. It is slow, which is
// acceptable because frames in CBOR are rare.
func CBORToJSON(frame []byte) ([]byte, error) {
	var event any
	if err := direct.Unmarshal(bytes.TrimPrefix(frame, []byte(CBORSelfDescribedTag)), &event); err != nil {
		return nil, err
	}
	text, err := json.Marshal(event)
	return append(text, '\n'), err
}

// The major types of CBOR that the splitter distinguishes (RFC 8949, section 3.1). Items of the
// others consist of their head only.
const (
	cborBytes = 2
	cborText  = 3
	cborArray = 4
	cborMap   = 5
	cborTag   = 6
	cborOther = 7
)

// indefinite is the number of remaining items in an item of indefinite length.
const indefinite = -1

// cborSplitter finds the ends of CBOR items (RFC 8949, appendix C). Bytes that are not CBOR are
// treated as complete frames.
type cborSplitter struct {
	header []byte // the bytes of the current item's head that have arrived
	skip   uint64 // remaining bytes of a string
	// remaining has the number of remaining items in each incomplete item, outermost first.
	remaining []int64
}

// Advance implements Splitter.
func (s *cborSplitter) Advance(p []byte) (int, bool) {
	for n := 0; ; {
		if jump := min(uint64(len(p)-n), s.skip); jump > 0 {
			n += int(jump)
			if s.skip -= jump; s.skip == 0 && s.endItem() {
				return n, true
			}
		}
		if n == len(p) {
			return n, false
		}
		s.header = append(s.header, p[n])
		n++
		if len(s.header) < headerSize(s.header[0]) {
			continue
		}
		complete, ok := s.startItem()
		s.header = s.header[:0]
		if !ok {
			s.remaining, s.skip = s.remaining[:0], 0
			return len(p), true
		}
		if complete && s.endItem() {
			return n, true
		}
	}
}

// headerSize returns the size of the head that starts with b.
func headerSize(b byte) int {
	if info := b & 0x1f; info >= 24 && info <= 27 {
		return 1 + 1<<(info-24)
	}
	return 1
}

// startItem processes a complete head. complete reports whether the item consists of its head only,
// ok whether the head is valid.
func (s *cborSplitter) startItem() (complete, ok bool) {
	major, info := s.header[0]>>5, s.header[0]&0x1f
	if info >= 28 && info <= 30 {
		return false, false
	}
	if info == 31 {
		return s.startIndefinite(major)
	}
	var wide [8]byte
	argument := uint64(info)
	if n := len(s.header) - 1; n > 0 {
		copy(wide[8-n:], s.header[1:])
		argument = binary.BigEndian.Uint64(wide[:])
	}
	const maxLength = 1 << 40 // larger than any item
	switch {
	case major >= cborBytes && major <= cborMap && argument > maxLength:
		return false, false
	case major == cborBytes, major == cborText:
		s.skip = argument
		return argument == 0, true
	case major == cborArray, major == cborMap:
		s.remaining = append(s.remaining, int64(argument)*int64(major-cborArray+1))
		if argument == 0 {
			s.remaining = s.remaining[:len(s.remaining)-1]
		}
		return argument == 0, true
	case major == cborTag:
		s.remaining = append(s.remaining, 1)
		return false, true
	}
	return true, true
}

// startIndefinite starts an item of indefinite length, or ends it if the head is a break.
func (s *cborSplitter) startIndefinite(major byte) (complete, ok bool) {
	switch major {
	case cborBytes, cborText, cborArray, cborMap:
		s.remaining = append(s.remaining, indefinite)
		return false, true
	case cborOther:
		last := len(s.remaining) - 1
		if last < 0 || s.remaining[last] != indefinite {
			return false, false
		}
		s.remaining = s.remaining[:last]
		return true, true
	}
	return false, false
}

// endItem marks an item as complete and reports whether that completes the frame.
func (s *cborSplitter) endItem() bool {
	for len(s.remaining) > 0 {
		last := len(s.remaining) - 1
		if s.remaining[last] == indefinite {
			return false
		}
		if s.remaining[last]--; s.remaining[last] > 0 {
			return false
		}
		s.remaining = s.remaining[:last]
	}
	return true
}
