package memstore

import "errors"

// errTxEnded: a Tx was used after its Load had returned.
var errTxEnded = errors.New("memstore: transaction has ended")

// Tx collects the writes of one Load. One goroutine at a time may use it, and not after Load has returned.
type Tx struct {
	head   *state
	events []*Event
	latest map[string]*Record // what events made of the keys they wrote
	err    error              // the first failure: it fails the whole Load
	ended  bool
}

// Load makes several writes at once, all or nothing: fixtures, mostly. It is much cheaper than as many
// Updates. Each write that changes something gets a revision of its own, and when all are
// in place, watchers see them one by one, in order. If fn or any of the writes fails, the store stays as it
// was and Load returns that error; ErrQuotaExceeded if all of them together exceed the quota.
//
// Unlike the function of an Update, fn runs once, and it holds the writer's lock: other writes wait for
// it, and one from inside fn, past the Tx, would wait for ever.
func (s *Store) Load(fn func(tx *Tx) error) error {
	wakes, err := s.load(fn)
	closeAll(wakes)
	return err
}

func (s *Store) load(fn func(tx *Tx) error) ([]chan struct{}, error) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	tx := &Tx{head: s.head.Load(), latest: map[string]*Record{}}
	defer func() { tx.ended = true }()
	if err := fn(tx); err != nil {
		return nil, err
	}
	if tx.err != nil || len(tx.events) == 0 {
		return nil, tx.err
	}
	if !s.withinQuota(tx.head, tx.events) {
		return nil, ErrQuotaExceeded
	}
	return s.commit(tx.head, tx.events), nil
}

// Get returns the record under the key as the transaction sees it, its own writes included. Nil if there is none.
func (tx *Tx) Get(key string) *Record {
	if r, ok := tx.latest[key]; ok {
		return r
	}
	return tx.head.get(key)
}

// Put stores the draft under the key, in the place of what is there. If it equals that, nothing changes.
// An error, of a draft that cannot be stored, also fails the Load.
func (tx *Tx) Put(key string, d Draft) error {
	err := d.check()
	switch {
	case tx.ended:
		return errTxEnded
	case key == "":
		err = ErrEmptyKey
	}
	if err != nil {
		tx.err = errors.Join(tx.err, err)
		return err
	}
	tx.write(key, &d)
	return nil
}

// Delete removes the record under the key, if there is one.
func (tx *Tx) Delete(key string) {
	if !tx.ended {
		tx.write(key, nil)
	}
}

func (tx *Tx) write(key string, d *Draft) {
	prev := tx.Get(key)
	if _, same := noop(prev, d); same {
		return
	}
	e := newEvent(key, tx.head.rev+Revision(len(tx.events))+1, prev, d)
	tx.events = append(tx.events, e)
	tx.latest[key] = e.Record
}
