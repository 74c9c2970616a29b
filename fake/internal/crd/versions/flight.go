package versions

import "sync"

// flights are the conversions of stored objects that are under way.
type flights struct {
	// mu guards under.
	mu    sync.Mutex
	under map[any]*flight
}

// flight is one of them. Its result is there when done is closed. It is a channel, and not a
// lock, so that a bubble of testing/synctest sees who waits for it.
type flight struct {
	done chan struct{}
	data []byte
	err  error
}

// Do lets those who want the same at the same time share one run of make, its error too: a
// hundred watchers of one version need not ask the webhook a hundred times.
func (d *CRD) Do(key any, make func() ([]byte, error)) ([]byte, error) {
	f, first := d.flights.join(key)
	if !first {
		<-f.done
		return f.data, f.err
	}
	defer close(f.done)
	defer d.flights.leave(key)
	f.data, f.err = make()
	return f.data, f.err
}

func (f *flights) join(key any) (_ *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if there := f.under[key]; there != nil {
		return there, false
	}
	if f.under == nil {
		f.under = make(map[any]*flight)
	}
	f.under[key] = &flight{done: make(chan struct{})}
	return f.under[key], true
}

func (f *flights) leave(key any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.under, key)
}
