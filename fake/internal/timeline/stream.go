package timeline

import (
	"time"

	"example.com/fakeapi/internal/frames"
)

// stream is the record of a watch.
type stream struct {
	split     frames.Splitter
	frames    []frame
	forgotten uint64
	partial   truncatedBody // the incomplete frame
	partialAt instant       // when its latest bytes were written
	burst     int           // frames since the last flush
}

// frame is a frame that was sent.
type frame struct {
	instant
	blob *blob
}

// instant is a time and an order.
type instant struct {
	at    time.Time
	order uint64
}

// frameCost is the memory of a frame without its bytes.
const frameCost = 64

// In a long burst, such as the initial events of 10,000 objects, only the last frames of a large
// write are recorded: the others would be dropped soon after.
const (
	burstFrames = MaxFramesPerWatch / 2 // since the last flush
	burstWrite  = 32 << 10              // the size of a large write
	burstTail   = 2                     // frames of it that are recorded
)

// write splits the bytes into frames, and reports whether the pool exceeds its limit.
func (s *stream) write(p []byte, pool *bodyPool) (full bool) {
	now := instant{time.Now(), pool.order.Add(1)}
	if s.burst >= burstFrames && len(p) >= burstWrite {
		return s.writeBurst(p, pool, now)
	}
	for len(p) > 0 {
		n, complete := s.split.Advance(p)
		piece := p[:n]
		p = p[n:]
		switch {
		case !complete:
			s.partial.add(piece)
			s.partialAt = now
		case s.partial.size > 0:
			s.partial.add(piece)
			full = s.add(frame{now, pool.add(s.partial.data, s.partial.size)}, pool)
			s.partial = truncatedBody{}
		default:
			full = s.add(frame{now, pool.add(piece, int64(n))}, pool)
		}
	}
	return full
}

// writeBurst is write for one of many large writes. It records the last frames and drops all before
// them.
func (s *stream) writeBurst(p []byte, pool *bodyPool, now instant) (full bool) {
	s.drop(len(s.frames), pool)
	var latest [burstTail][]byte
	seen := 0
	for len(p) > 0 {
		n, complete := s.split.Advance(p)
		switch {
		case !complete:
			s.partial.add(p[:n])
			s.partialAt = now
		case s.partial.size > 0:
			s.partial = truncatedBody{}
			s.forgotten++
		default:
			latest[seen%burstTail] = p[:n]
			seen++
		}
		p = p[n:]
	}
	first := max(0, seen-burstTail)
	s.forgotten += uint64(first)
	for ; first < seen; first++ {
		piece := latest[first%burstTail]
		full = s.add(frame{now, pool.add(piece, int64(len(piece)))}, pool)
	}
	return full
}

// add appends a frame, and drops the oldest one if there are too many.
func (s *stream) add(f frame, pool *bodyPool) (full bool) {
	if len(s.frames) >= MaxFramesPerWatch {
		s.drop(1, pool)
	}
	s.frames = append(s.frames, f)
	s.burst++
	return pool.bytes.Add(frameCost) > MaxFrameBytes
}

// drop drops the oldest frames.
func (s *stream) drop(n int, pool *bodyPool) {
	for i := range s.frames[:n] {
		pool.release(s.frames[i].blob)
		s.frames[i] = frame{}
	}
	s.frames = s.frames[n:]
	s.forgotten += uint64(n)
	pool.bytes.Add(int64(-n) * frameCost)
}
