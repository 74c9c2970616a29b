package linearizability

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// CheckRevisions checks what the model of a single key cannot: no two writes have the same
// revision, no revision is older than one that a client had received before the request, and no uid
// is used for two objects.
func CheckRevisions(history []porcupine.Operation) (violations []string) {
	report := func(what string, op porcupine.Operation) {
		violations = append(violations, fmt.Sprintf("%s: %+v -> %+v", what, op.Input, op.Output))
	}
	history = slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	known := make([]uint64, len(history)+1) // the newest revision in the first n responses
	revisions, uids := map[uint64]bool{}, map[string]bool{}
	for i, op := range history {
		req, resp := op.Input.(Request), op.Output.(Response)
		if known[i+1] = known[i]; !req.DryRun {
			known[i+1] = max(known[i], resp.ResourceVersion, resp.ListRevision)
		}
		if resp.Code == 0 || resp.Code >= http.StatusBadRequest || req.DryRun || req.Verb == "get" || req.Verb == "getscale" {
			continue
		}
		rev := resp.ResourceVersion
		if req.Verb == "list" {
			rev = resp.ListRevision
		}
		before, _ := slices.BinarySearchFunc(history[:i], op.Call, func(o porcupine.Operation, call int64) int { return cmp.Compare(o.Return, call) })
		if newest := known[before]; rev != 0 && !req.Noop && rev < newest {
			report(fmt.Sprintf("at %d, after %d was received", rev, newest), op)
		}
		if req.IsRead() || req.Noop || rev == 0 {
			continue
		}
		if revisions[rev] {
			report("two writes with the same revision", op)
		}
		if revisions[rev] = true; resp.Code != http.StatusCreated {
			continue
		}
		if uids[resp.UID] {
			report("two objects with the same uid", op)
		}
		uids[resp.UID] = true
	}
	return violations
}

// DescribeFailure describes, for each key, the end of the longest order that porcupine found and
// the operations that cannot follow.
func DescribeFailure(history []porcupine.Operation, info porcupine.LinearizationInfo) string {
	var b strings.Builder
	for _, part := range info.PartialLinearizationsOperations() {
		var longest []porcupine.Operation
		for _, order := range part {
			if len(order) > len(longest) {
				longest = order
			}
		}
		if len(longest) == 0 {
			continue
		}
		key, placed := longest[0].Input.(Request).Key, map[int64]bool{}
		for i, op := range longest {
			if placed[op.Call] = true; i >= len(longest)-5 {
				fmt.Fprintf(&b, "%s: ordered: %s\n", key, FormatOperation(op))
			}
		}
		left := 0
		for _, op := range history {
			if op.Input.(Request).Key == key && !placed[op.Call] && left < 10 {
				fmt.Fprintf(&b, "%s: not possible next: %s\n", key, FormatOperation(op))
				left++
			}
		}
	}
	return b.String()
}

// FormatOperation formats an operation with its call and return time.
func FormatOperation(op porcupine.Operation) string {
	return fmt.Sprintf("[%d, %d] client %d: %+v -> %+v", op.Call, op.Return, op.ClientId, op.Input, op.Output)
}

// Outcome returns the name of an outcome for a harness.Counter.
func Outcome(req Request, resp Response) string {
	what := fmt.Sprint(req.Verb, " ", resp.Code)
	switch {
	case resp.Code == 0:
		return "lost"
	case req.Verb == "list" && resp.Code == http.StatusOK && !resp.HasObject:
		what += " empty"
	}
	if req.DryRun {
		what += " dry"
	}
	return what
}
