package fakeapi

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// resetParts are what a reset removes unless it is kept, by name.
func resetParts() []string { return []string{"faults", "hits", "timeline", "access"} }

// keepParam returns the parts of the parameter keep.
func keepParam(r *http.Request) ([]string, error) {
	text := r.URL.Query().Get("keep")
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, ",")
	for _, part := range parts {
		if !slices.Contains(resetParts(), part) {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("keep: %q is none of %s", part, strings.Join(resetParts(), ", ")))
		}
	}
	return parts, nil
}

// reset removes the fault rules and the records that the parameter keep does not name, and restores
// the snapshot of the parameter snapshot. The numbers of the parameter since go on.
func (c *controlAPI) reset(w http.ResponseWriter, r *http.Request) error {
	keep, err := keepParam(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	restore, text := func() error { return nil }, "reset"
	if name := query.Get("snapshot"); name != "" {
		bump := cmp.Or(query.Get("bump"), "1000")
		if restore, err = c.prepareRestore(name, bump); err != nil {
			return err
		}
		text += fmt.Sprintf(" with a restore of snapshot %s with bump %s", name, bump)
	} else if query.Has("snapshot") || query.Has("bump") {
		return apierrors.NewBadRequest("snapshot: the name of a snapshot is missing")
	}
	if len(keep) > 0 {
		text += ", which keeps " + strings.Join(keep, ", ")
	}
	remove := map[string]func(){
		"faults": c.removeAllFaults, "hits": c.server.faults.ResetHits, "timeline": c.server.recorder.Reset, "access": c.server.resetAccess,
	}
	if !slices.Contains(keep, "faults") {
		c.removeAllFaults() // before watches end, so that the rules do not act on what clients do then
	}
	if err := restore(); err != nil {
		return err
	}
	for _, part := range resetParts() {
		if !slices.Contains(keep, part) {
			remove[part]()
		}
	}
	c.server.note("%s", text)
	setNext(w, c.server.recorder.Order())
	return writeNoContent(w)
}
