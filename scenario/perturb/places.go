package perturb

import "slices"

// sameWrites is the number of equal writes that are perturbed, and sameReads that of equal reads in
// each phase.
const (
	sameWrites = 3
	sameReads  = 2
)

// isAboutLeaders reports whether a place is about a resource that leader election or logging uses.
func (p *place) isAboutLeaders() bool { return slices.Contains(ignoredResources, p.key.resource) }

// writes returns the requests that have changed something.
func (r *reference) writes(full bool) (all []*place) {
	for _, p := range r.requests {
		if p.write && (full || p.nth <= sameWrites && !p.isAboutLeaders()) {
			all = append(all, p)
		}
	}
	return all
}

// others returns the requests that have changed nothing, without watches.
func (r *reference) others(full bool) (all []*place) {
	type inPhase struct {
		placeKey
		phase int
	}
	counts := map[inPhase]int{}
	for _, p := range r.requests {
		if p.write || p.verb == "watch" {
			continue
		}
		key := inPhase{p.selector(), p.phase}
		counts[key]++
		if full || counts[key] <= sameReads && !p.isAboutLeaders() {
			all = append(all, p)
		}
	}
	return all
}

// openings returns the requests that open watches, without full the first of each resource: with
// streaming lists, the first one is also the first list.
func (r *reference) openings(full bool) (all []*place) {
	for _, p := range r.requests {
		if p.verb == "watch" && (full || p.nth == 1 && !p.isAboutLeaders()) {
			all = append(all, p)
		}
	}
	return all
}

// notable returns the events at which something can go wrong, without bookmarks. Unless full, those
// of leader election and of the system are left out, and all but the first few of equal ones.
func (r *reference) notable(full bool) (all []*place) {
	counts := map[placeKey]int{}
	for _, p := range r.events {
		if p.event == "BOOKMARK" {
			continue
		}
		counts[p.selector()]++
		if full || counts[p.selector()] <= sameWrites && !p.isAboutLeaders() && !p.isOfSystem() {
			all = append(all, p)
		}
	}
	return all
}

// isOfSystem reports whether the object of an event is in a namespace of the system.
func (p *place) isOfSystem() bool {
	switch p.namespace {
	case "kube-system", "kube-public", "kube-node-lease":
		return true
	}
	return p.key.resource == "configmaps" && p.name == "kube-root-ca.crt"
}
