package memstore

import "errors"

// errTxEnded is returned if a Tx is used after its Load has returned.
var errTxEnded = errors.New("memstore: transaction has ended")

// Tx collects the writes of one Load. It must be used by one goroutine at a time and not after Load
// has returned.
type Tx struct {
	head   *state
	events []*Event
	latest map[string]*Record // the records by key after the writes of the transaction; nil if deleted
	err    error              // the errors of Put, which also fail the Load
	ended  bool
}

// Load makes several writes, all or none of them. It is meant for fixtures and is much faster than
// the same number of Updates. Each write that changes something gets its own revision, and watches
// receive the events in order after all writes are done. If fn or one of its writes fails, nothing
// is changed and Load returns the error. It returns ErrQuotaExceeded if all writes together would
// exceed the quota.
//
// In contrast to the function of Update, fn is called once, with the writer's lock held: other
// writes wait, and fn must not call the writing methods of the Store.
func (s *Store) Load(fn func(tx *Tx) error) error {
	toClose, err := s.load(fn)
	closeAll(toClose)
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

// Get returns the record of a key, including the writes of the transaction, or nil if it does not
// exist.
func (tx *Tx) Get(key string) *Record {
	if r, ok := tx.latest[key]; ok {
		return r
	}
	return tx.head.get(key)
}

// Put stores a draft under a key and replaces an existing record. If the draft equals the record,
// nothing is changed. If the draft cannot be stored, Put returns an error, and the Load fails, too.
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

// Delete removes the record of a key if it exists.
func (tx *Tx) Delete(key string) {
	if !tx.ended {
		tx.write(key, nil)
	}
}

func (tx *Tx) write(key string, d *Draft) {
	prev := tx.Get(key)
	if _, isNoop := noop(prev, d); isNoop {
		return
	}
	e := newEvent(key, tx.head.rev+Revision(len(tx.events))+1, prev, d)
	tx.events = append(tx.events, e)
	tx.latest[key] = e.Record
}
