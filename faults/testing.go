package faults

// TB is the part of testing.TB that AddFor and MustHit need.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// AddFor adds rules as [Set.Add] does and removes them when the test ends, so that tests that share
// a server do not affect each other. An invalid rule fails the test immediately.
func (s *Set) AddFor(t TB, rules ...Rule) {
	t.Helper()
	remove, err := s.Add(rules...)
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	t.Cleanup(remove)
}

// MustHit reports an error for each rule of the set that was never applied, because a test without
// its fault proves nothing. Hits that were not applied do not count. Call it at the end of the
// test; as a deferred call it runs before the rules of AddFor are removed.
func (s *Set) MustHit(t TB) {
	t.Helper()
	for _, a := range s.rules().list() {
		if a.applied.Load() == 0 && !a.optional {
			t.Errorf("this fault rule was never applied: %s", a.rule)
		}
	}
}
