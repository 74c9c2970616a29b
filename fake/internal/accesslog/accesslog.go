// Package accesslog records which actions the users and the clients of a server requested, and
// whether they were allowed. Its memory is limited. An access.Report is the record.
package accesslog

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/fakeapi/fake/access"
	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/internal/requestinfo"
)

// The limits of a Recorder.
const (
	// MaxAccesses is the maximum number of accesses. Requests for others are counted as dropped.
	MaxAccesses = 16384
	// MaxBytes is the maximum size of the texts of all accesses.
	MaxBytes = 16 << 20
	// MaxTextBytes is the length to which a text is cut, such as a user agent or a path.
	MaxTextBytes = 512
	// MaxGroups is how many groups of a user are recorded.
	MaxGroups = 64
	// MaxGrants is the maximum number of rules of an access.
	MaxGrants = 1000
)

// Action is what a user requests with a user agent. It has no name of an object.
type Action struct {
	User, UserAgent                            string
	Verb                                       string
	APIGroup, Resource, Subresource, Namespace string
	Path                                       string
}

// Recorder records accesses. It is safe for concurrent use. An access that is recorded already
// takes no allocation and does not wait for others.
type Recorder struct {
	mu       sync.RWMutex // guards the fields below
	accesses map[Action]*entry
	size     int
	dropped  uint64
}

// entry is the record of an Action. The fields that are not atomic are guarded by Recorder.mu.
type entry struct {
	groups             []string
	names              map[string]struct{}
	moreNames          bool
	allowed, denied    atomic.Uint64
	first, firstDenied uint64
	reason             atomic.Pointer[string]
	grants             []rbacv1.PolicyRule
	granted            map[string]struct{} // the rules in grants, encoded
}

// New returns an empty Recorder.
func New() *Recorder { return &Recorder{accesses: map[Action]*entry{}} }

// Reset removes all accesses.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accesses, r.size, r.dropped = map[Action]*entry{}, 0, 0
}

// Record records a request for an action on the object with a name, which is "" without one, and
// whether it was allowed. ctx is that of the request. reason is that of the decision.
func (r *Recorder) Record(ctx context.Context, a Action, name string, allowed bool, reason string) {
	a.trim()
	name, reason = cut(name), cut(reason)
	if !r.count(&a, name, allowed, reason) {
		r.add(ctx, a, name, allowed, reason)
	}
}

// count counts a request for an access that is recorded with its name, or returns false.
func (r *Recorder) count(a *Action, name string, allowed bool, reason string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := r.accesses[*a]
	if e == nil {
		return false
	}
	if _, ok := e.names[name]; !ok && !e.moreNames {
		return false
	}
	if !allowed && e.denied.Load() == 0 {
		return false
	}
	e.count(allowed, reason)
	return true
}

// add adds the access, or its name or its first denial, and counts the request.
func (r *Recorder) add(ctx context.Context, a Action, name string, allowed bool, reason string) {
	groups, number := authn.UserFrom(ctx).Groups, requestinfo.Number(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(a, groups, number)
	if e == nil {
		return
	}
	r.addName(e, name)
	if !allowed && e.denied.Load() == 0 {
		e.firstDenied = number
	}
	e.count(allowed, reason)
}

// entry returns the entry of an action, or nil if there is no room for it. r.mu is locked.
func (r *Recorder) entry(a Action, groups []string, number uint64) *entry {
	if e := r.accesses[a]; e != nil {
		return e
	}
	groups = slices.Clone(groups[:min(len(groups), MaxGroups)])
	size := a.size()
	for i := range groups {
		groups[i] = strings.Clone(cut(groups[i]))
		size += len(groups[i])
	}
	if len(r.accesses) >= MaxAccesses || r.size+size > MaxBytes {
		r.dropped++
		return nil
	}
	r.size += size
	e := &entry{groups: groups, names: map[string]struct{}{}, first: number}
	r.accesses[a.clone()] = e
	return e
}

// addName adds a name to an entry. r.mu is locked.
func (r *Recorder) addName(e *entry, name string) {
	if _, ok := e.names[name]; ok || e.moreNames {
		return
	}
	if len(e.names) >= access.MaxNames || r.size+len(name) > MaxBytes {
		e.moreNames = true
		return
	}
	r.size += len(name)
	e.names[strings.Clone(name)] = struct{}{}
}

// count counts a request.
func (e *entry) count(allowed bool, reason string) {
	if allowed {
		e.allowed.Add(1)
	} else {
		e.denied.Add(1)
	}
	if latest := e.reason.Load(); latest == nil && reason != "" || latest != nil && *latest != reason {
		stored := strings.Clone(reason)
		e.reason.Store(&stored)
	}
}
