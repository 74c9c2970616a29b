package memstore

// recordOverhead is the assumed size of a record without its key and data: the struct, labels,
// fields and the node in the tree.
const recordOverhead = 512

// size returns the size that the quota counts.
func (r *Record) size() int64 {
	if r == nil {
		return 0
	}
	return recordOverhead + int64(len(r.Key)+len(r.Data))
}

// sizeChange returns by how much events increase the size of the state. It is negative if they
// decrease it.
func sizeChange(events []*Event) (bytes int64) {
	for _, e := range events {
		bytes += e.Record.size() - e.Prev.size()
	}
	return bytes
}

// withinQuota reports whether the quota allows events. Events that do not increase the size are
// always allowed, so that records can be deleted when the quota is used up. The caller holds the
// writer's lock.
func (s *Store) withinQuota(head *state, events []*Event) bool {
	change := sizeChange(events)
	return change <= 0 || change <= s.quota-head.bytes
}
