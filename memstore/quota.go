package memstore

// recordOverhead is what a record is taken to occupy besides its key and its data: itself, its labels and
// fields, and its place in the tree.
const recordOverhead = 512

// size is what a record is taken to occupy.
func (r *Record) size() int64 {
	if r == nil {
		return 0
	}
	return recordOverhead + int64(len(r.Key)+len(r.Data))
}

// sizeChange is by how much events make the state larger; negative if they make it smaller.
func sizeChange(events []*Event) (bytes int64) {
	for _, e := range events {
		bytes += e.Record.size() - e.Prev.size()
	}
	return bytes
}

// withinQuota reports whether there is room for events: what does not make the state larger always fits, so that
// who has come to the quota can delete. The caller holds the writer's lock.
func (s *Store) withinQuota(head *state, events []*Event) bool {
	more := sizeChange(events)
	return more <= 0 || more <= s.quota-head.bytes
}
