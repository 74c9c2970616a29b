package handlers

import (
	"context"

	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/warning"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/rest"
)

// maxWarningsLength is the number of characters of all warnings above which each of them is
// truncated to truncatedWarningLength (WN-04).
const (
	maxWarningsLength      = 4096
	truncatedWarningLength = 256
)

// warnings are the Warning headers of a response, without duplicates (WN-03).
type warnings struct {
	texts      []string
	written    int // characters in the headers
	truncating bool
}

// add adds a warning to the headers of a response that has not started. An empty text is ignored.
func (w *warnings) add(h http.Header, text string) {
	if text == "" || slices.Contains(w.texts, text) || w.truncating && w.written >= maxWarningsLength {
		return
	}
	w.texts = append(w.texts, text)
	if w.truncating || w.written+utf8.RuneCountInString(text) <= maxWarningsLength {
		w.write(h, text)
		return
	}
	w.truncating, w.written = true, 0
	h.Del("Warning")
	for _, text := range w.texts {
		w.write(h, text)
	}
}

func (w *warnings) write(h http.Header, text string) {
	length := utf8.RuneCountInString(text)
	if w.truncating && length > truncatedWarningLength {
		text, length = string([]rune(text)[:truncatedWarningLength]), truncatedWarningLength
	}
	// Texts that are not valid in a header are left out (WN-01).
	if header, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
		w.written += length
		h.Add("Warning", header)
	}
}

// addTypeWarnings adds the warnings of the resource or its subresource for a valid object. old is
// nil for a new one. A write of a Scale is an update of the resource.
func (q *request) addTypeWarnings(obj, old runtime.Object) {
	onUpdate := q.res.WarningsOnUpdate
	if q.sub != nil && q.sub.WritesObject() {
		onUpdate = q.sub.WarningsOnUpdate
	}
	var texts []string
	switch {
	case old != nil && onUpdate != nil:
		texts = onUpdate(obj, old)
	case old == nil && q.sub == nil && q.res.WarningsOnCreate != nil:
		texts = q.res.WarningsOnCreate(obj)
	}
	for _, text := range texts {
		q.warnings.add(q.w.Header(), text)
	}
}

// addDeleteWarning adds the warning of the resource for a delete without a propagation policy.
func (q *request) addDeleteWarning(opts *metav1.DeleteOptions) {
	if q.res.DeleteWarning != "" && opts.PropagationPolicy == nil && rest.OrphanDependents(opts) == nil {
		q.warnings.add(q.w.Header(), q.res.DeleteWarning)
	}
}

// withWarnings returns the context of the request with the recorder of its warnings.
func (q *request) withWarnings() context.Context {
	return warning.WithWarningRecorder(q.r.Context(), q)
}

// AddWarning implements warning.Recorder.
func (q *request) AddWarning(_, text string) { q.warnings.add(q.w.Header(), text) }

// addWarnings adds errors as warnings. The YAML library returns all that it finds as one error with
// several lines, which become a warning each.
func (q *request) addWarnings(errs ...error) {
	const yaml = "yaml: unmarshal errors:\n"
	for _, err := range errs {
		text := err.Error()
		lines, ok := strings.CutPrefix(strings.TrimPrefix(text, "error converting YAML to JSON: "), yaml)
		if !ok {
			q.warnings.add(q.w.Header(), text)
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			q.warnings.add(q.w.Header(), strings.TrimSpace(line))
		}
	}
}

// dedupOwnerReferences removes duplicate owner references and adds a warning for them (MD-22). A
// real server does this with the object that was sent and again after mutating admission, which is
// also where it finds those of a patch. The warning names the second one.
func (q *request) dedupOwnerReferences(obj runtime.Object, afterAdmission bool) {
	m := resource.Accessor(obj)
	owners := m.GetOwnerReferences()
	if len(owners) < 2 {
		return
	}
	var unique []metav1.OwnerReference
	var duplicates []string
	seen := make(map[ownerKey]bool, len(owners))
	for _, owner := range owners {
		key := newOwnerKey(&owner)
		if seen[key] {
			duplicates = append(duplicates, string(owner.UID))
			continue
		}
		seen[key] = true
		unique = append(unique, owner)
	}
	if len(duplicates) == 0 {
		return
	}
	m.SetOwnerReferences(unique)
	when := ""
	if afterAdmission {
		when = " after mutating admission happens"
	}
	q.addWarnings(fmt.Errorf(".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, "+
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s",
		when, strings.Join(duplicates, ", ")))
}

// ownerKey is an owner reference as a value that can be compared. The fields that are nil are
// false in hasController and hasBlock.
type ownerKey struct {
	owner                   metav1.OwnerReference
	hasController, hasBlock bool
	controller, block       bool
}

func newOwnerKey(owner *metav1.OwnerReference) ownerKey {
	key := ownerKey{
		owner:         *owner,
		hasController: owner.Controller != nil, hasBlock: owner.BlockOwnerDeletion != nil,
		controller: owner.Controller != nil && *owner.Controller, block: owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion,
	}
	key.owner.Controller, key.owner.BlockOwnerDeletion = nil, nil
	return key
}
