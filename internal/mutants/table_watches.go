package mutants

// watches are mutants of watches, their bookmarks and streaming lists.
func watches() []Mutant {
	return []Mutant{
		{"WA-03", "out-of-order", "sends the second of two events that are there before the first",
			verbs + "watch.go", `sent := 0
`, `sent := 0
	if len(events) > 1 && events[1].Revision <= horizon {
		events[0], events[1] = events[1], events[0]
	}
`, nil},
		{"WA-05", "begins-now", "begins a watch without resourceVersion with what happens from now on",
			verbs + "watch.go", `initial != nil && *initial {`, `initial != nil && *initial && opts.ResourceVersion != "" {`, []string{"SI"}},
		{"WA-07", "begins-too-early", "begins with the event of the resourceVersion that the client has already seen",
			verbs + "watch.go", `s.cursor, err = s.a.store.Watch(s.prefix, rev)`, `if s.prefix != "" && rev > 0 {
		rev--
	}
	s.cursor, err = s.a.store.Watch(s.prefix, rev)`, nil},
		{"WA-09", "deletion-of-before", "shows a deleted object with the resourceVersion that it had before",
			verbs + "watch.go", `return s.append(watch.Deleted, e.DeletedRecord())`, `return s.append(watch.Deleted, e.Prev)`, nil},
		{"WA-12", "leave-is-lost", "sends no DELETED event when an object leaves the selection",
			verbs + "watch.go", `case was:`, `case was && e.Record == nil:`, []string{"SE"}},
		{"WA-12", "join-is-modified", "sends MODIFIED when an object comes into the selection",
			verbs + "watch.go", `case is && !was:`, `case is && e.Prev == nil:`, []string{"SE"}},
		{"WA-13", "leave-shows-the-new", "shows an object that leaves the selection as it is afterwards",
			verbs + "watch.go", `return s.append(watch.Deleted, e.DeletedRecord())`, `if e.Record != nil {
			return s.append(watch.Deleted, e.Record)
		}
		return s.append(watch.Deleted, e.DeletedRecord())`, []string{"SE"}},
		{"WA-16", "never-ends", "does not end a watch after its timeoutSeconds",
			verbs + "watch.go", `if s := opts.TimeoutSeconds; s != nil && *s > 0 {`, `if s := opts.TimeoutSeconds; s != nil && *s > 1<<20 {`, []string{"PV"}},
		{"WA-19", "expires-in-silence", "ends an expired watch without an ERROR event",
			verbs + "watch.go", `err = status.TooOldResourceVersion(uint64(compacted.Requested), uint64(compacted.Floor))`, `return`, []string{"EX"}},
		{"WA-28", "watches-the-neighbours", "sends the events of every namespace whose name begins as that of the path",
			verbs + "watch.go", `return collection.key()`, `key := collection.key()
	return key[:len(key)-1]`, []string{"PV", "NM", "LS"}},
		{"WA-30", "watches-in-yaml", "serves a watch in YAML",
			"fake/internal/negotiate/negotiate.go", `if out.Media == YAML {`, `if out.Media == YAML && r == nil {`, []string{"CN"}},
		{"WA-35", "columns-in-every-event", "sends the columns of a Table with every event",
			"fake/internal/represent/table.go", `t.headed = true`, `t.headed = false`, []string{"TB"}},
		{"EX-01", "gone-instead-of-expired", "gives an expired watch the reason Gone",
			"fake/internal/status/status.go", `return apierrors.NewResourceExpired(fmt.Sprintf("too old`, `return apierrors.NewGone(fmt.Sprintf("too old`, []string{"WA"}},
		{"EX-06", "retry-after-is-lost", "never sends the header Retry-After",
			"fake/internal/status/status.go", `return s.Details.RetryAfterSeconds`, `return 0`, []string{"GT", "RS"}},
		{"EX-08", "out-of-time-is-broken", "answers 500 to a request whose time is over",
			verbs + "api.go", `w.WriteHeader(http.StatusGatewayTimeout)`, `w.WriteHeader(http.StatusInternalServerError)`, nil},
		{"BM-01", "bookmarks-for-all", "sends bookmarks to those who have not asked for any",
			verbs + "watch.go", `bookmarks: opts.AllowWatchBookmarks,`, `bookmarks: true,`, []string{"SI", "WA"}},
		{"BM-03", "bookmark-ahead", "sends a bookmark that is one revision ahead",
			verbs + "watch.go", `if err := s.bookmark(rev, false); err != nil {`, `if err := s.bookmark(rev+1, false); err != nil {`, []string{"SI"}},
		{"BM-06", "bookmark-before-its-events", "ends the initial events before they have been sent",
			verbs + "watch.go", `for rec := range view.Range(s.prefix, "") {`, `if s.bookmarks && !s.unmarked {
		if err := s.bookmark(view.Revision(), true); err != nil {
			return err
		}
		s.unmarked = true
	}
	for rec := range view.Range(s.prefix, "") {`, []string{"SI"}},
		{"BM-07", "every-bookmark-ends", "says of every bookmark that the initial events end with it",
			"fake/internal/represent/event.go", `if initialEventsEnd {`, `if initialEventsEnd || revision != "" {`, []string{"SI"}},
		{"BM-08", "no-bookmarks", "sends no bookmarks but that of the initial events",
			verbs + "schedule.go", `if !bookmarks {`, `if !bookmarks || ctx != nil {`, nil},
		{"SI-01", "no-end-of-the-initial-events", "does not send the bookmark that ends the initial events",
			verbs + "watch.go", `if s.bookmarks && !s.unmarked {`, `if s.bookmarks && s.prefix == "" {`, []string{"BM"}},
		{"SI-07", "events-of-the-past", "sends initial events to those who want none",
			verbs + "watch.go", `if rev == 0 && opts.SendInitialEvents == nil {`, `if rev == 0 {`, nil},
	}
}
