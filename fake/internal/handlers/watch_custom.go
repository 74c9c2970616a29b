package handlers

import "example.com/fakeapi/memstore"

// checkWindow returns an error if a client asks for the events after a revision from before the
// CustomResourceDefinition became as it is, at which the watch cache of a real server begins
// (CD-08). In a view from before that, the definition has not changed yet.
func (s *stream) checkWindow(rev memstore.Revision) error {
	if s.res.Custom == nil || rev == 0 {
		return nil
	}
	floor := s.res.Custom.CRD().Since()
	if rev >= floor || s.api.cache.Revision() < floor {
		return nil
	}
	return &memstore.CompactedError{Requested: rev, Floor: floor}
}

// drainAfterCRDChange sends the events from before the CustomResourceDefinition changed. If it was
// deleted, these are the deletions of its objects, after which some time passes on a real server.
func (s *stream) drainAfterCRDChange(events, buffer []*memstore.Event) error {
	s.ctx = s.request
	until := s.api.store.Revision()
	for {
		if len(events) == 0 {
			n, err := s.cursor.Next(buffer)
			if n == 0 || err != nil { // after a restore there are no more events
				return s.flush()
			}
			events = buffer[:n]
		}
		sent, err := s.sendEvents(events)
		if err != nil {
			return err
		}
		if events = events[sent:]; sent == 0 || s.sent >= until {
			return s.flush()
		}
	}
}
