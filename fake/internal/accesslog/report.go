package accesslog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"example.com/fakeapi/fake/access"
)

// Report returns the record.
func (r *Recorder) Report() access.Report {
	r.mu.RLock()
	defer r.mu.RUnlock()
	report := access.Report{Accesses: make([]access.Access, 0, len(r.accesses)), Dropped: r.dropped}
	for a, e := range r.accesses {
		report.Accesses = append(report.Accesses, e.access(a))
	}
	slices.SortFunc(report.Accesses, compare)
	return report
}

// compare orders the accesses of a report.
func compare(a, b access.Access) int {
	return cmp.Or(
		cmp.Compare(a.User, b.User), cmp.Compare(a.UserAgent, b.UserAgent),
		cmp.Compare(a.APIGroup, b.APIGroup), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Subresource, b.Subresource),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.First, b.First), // their texts differ only in bytes that are not UTF-8
	)
}

// access returns the access of an action. Bytes that are not UTF-8 are replaced, as in JSON.
// Recorder.mu is locked.
func (e *entry) access(a Action) access.Access {
	for _, text := range a.texts() {
		*text = valid(*text)
	}
	result := access.Access{
		User: a.User, UserAgent: a.UserAgent, Verb: a.Verb,
		APIGroup: a.APIGroup, Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Path: a.Path,
		MoreNames: e.moreNames, Allowed: e.allowed.Load(), Denied: e.denied.Load(), First: e.first, FirstDenied: e.firstDenied,
	}
	for _, group := range e.groups {
		result.Groups = append(result.Groups, valid(group))
	}
	if a.Resource != "" {
		for _, name := range slices.Sorted(maps.Keys(e.names)) {
			result.Names = append(result.Names, valid(name))
		}
	}
	if reason := e.reason.Load(); reason != nil {
		result.Reason = valid(*reason)
	}
	for i := range e.grants {
		result.Grants = append(result.Grants, *e.grants[i].DeepCopy())
	}
	return result
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
