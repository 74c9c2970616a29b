package timeline

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// bodyPool has the bytes of frames. The frames of an event that goes to many watchers share one
// copy, as long as it is among the latest.
type bodyPool struct {
	seed maphash.Seed
	// bytes is the memory of all blobs and frames in use.
	bytes  atomic.Int64
	latest [256]atomic.Pointer[blob]
	// order is the order of the latest exchange or write of frames.
	order atomic.Uint64
}

// blob is a frame, or the beginning of one. It does not change.
type blob struct {
	data []byte
	size int64 // of the whole frame
	// refs counts the frames that use it. pool.bytes includes it while there are any.
	refs atomic.Int64
}

// hashPrefixSize is how many bytes of a frame are hashed. They usually include the type, name and
// resourceVersion.
const hashPrefixSize = 256

// add returns a blob for a frame of size bytes, which begins with data.
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

// release decrements the references of a blob.
func (p *bodyPool) release(b *blob) {
	if b.refs.Add(-1) == 0 {
		p.bytes.Add(-int64(len(b.data)))
	}
}
