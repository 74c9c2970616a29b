package timeline

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// bodyPool has the bytes of frames. An event goes to many watchers in the same bytes, and
// all of their frames share one copy, as long as it is among the latest.
type bodyPool struct {
	seed maphash.Seed
	// bytes is what all blobs and frames in use take, in bytes.
	bytes  atomic.Int64
	latest [256]atomic.Pointer[blob]
	// order is that of the latest write of frames, or exchange.
	order atomic.Uint64
}

// blob is the beginning of a frame. It does not change.
type blob struct {
	data []byte
	size int64 // of the frame
	// refs counts the frames that have it; pool.size has it while there are any.
	refs atomic.Int64
}

// hashPrefixSize is how much of a frame the place of its blob depends on: type, name and
// resourceVersion are mostly in it.
const hashPrefixSize = 256

// add gives the blob of a frame that has so many bytes, data the first of them.
func (p *bodyPool) add(data []byte, size int64) *blob {
	if len(data) > MaxBodyBytes {
		data = data[:MaxBodyBytes]
	}
	slot := &p.latest[maphash.Bytes(p.seed, data[:min(hashPrefixSize, len(data))])%uint64(len(p.latest))]
	b := slot.Load()
	if b == nil || b.size != size || !bytes.Equal(b.data, data) {
		b = &blob{data: bytes.Clone(data), size: size}
		slot.Store(b)
	}
	if b.refs.Add(1) == 1 {
		p.bytes.Add(int64(len(b.data)))
	}
	return b
}

// release gives a blob back.
func (p *bodyPool) release(b *blob) {
	if b.refs.Add(-1) == 0 {
		p.bytes.Add(-int64(len(b.data)))
	}
}
