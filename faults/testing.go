package faults

// TB is the part of testing.TB that AddFor and MustHit need.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// AddFor arms rules for a test, as [Set.Add] does, and takes them out when it
// ends: tests that share a server do not leave theirs behind. A rule that is
// refused fails the test at once.
func (s *Set) AddFor(t TB, rules ...Rule) {
	t.Helper()
	remove, err := s.Add(rules...)
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	t.Cleanup(remove)
}

// MustHit marks the test as failed for each rule that is armed now and was never
// applied: a test whose fault did not happen has tested nothing. Hits that
// are noted as missed do not count. Call it when the story is over, and, if rules
// were armed with AddFor, before the test ends: a defer is early enough.
func (s *Set) MustHit(t TB) {
	t.Helper()
	for _, a := range s.rules().list() {
		if a.applied.Load() == 0 {
			t.Errorf("this fault rule never fired: %s", a.rule)
		}
	}
}
