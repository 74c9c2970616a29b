package builtintypes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const applyPatchType = "application/apply-patch+yaml"

// oddValue returns a value to replace one of an object with.
func oddValue(r *rand.Rand) any {
	values := []any{
		nil, true, -1, 0, 1, 65536, 1 << 40, 1.5, "", "a", "a b", "-", "Ä", "None", "0", "-1", "1Gi", "1m", "10%", "101%", "10.0.0.1", "::1", "10.0.0.0/8", "../x", "/", "a.b/c",
		strings.Repeat("x", 300), "2024-05-06T07:08:09Z",
		[]any{}, object{}, []any{object{}}, []any{""}, []any{nil}, object{"a": "b"}, object{"a b": "c d"},
	}
	return values[r.IntN(len(values))]
}

// mutate replaces or removes a random value of an object, seldom of its metadata.
func mutate(r *rand.Rand, body object) {
	var value any = body
	for depth := 0; ; depth++ {
		switch parent := value.(type) {
		case object:
			keys := slices.Sorted(maps.Keys(parent))
			keys = slices.DeleteFunc(keys, func(key string) bool {
				return depth == 0 && (key == "apiVersion" || key == "kind" || key == "metadata" && r.IntN(8) > 0)
			})
			if len(keys) == 0 {
				return
			}
			key := keys[r.IntN(len(keys))]
			if isLeaf(parent[key]) || r.IntN(6) == 0 {
				if r.IntN(3) == 0 {
					delete(parent, key)
				} else {
					parent[key] = oddValue(r)
				}
				return
			}
			value = parent[key]
		case []any:
			i := r.IntN(len(parent))
			if isLeaf(parent[i]) || r.IntN(6) == 0 {
				if other := parent[r.IntN(len(parent))]; isLeaf(other) && r.IntN(2) == 0 {
					parent[i] = other
				} else {
					parent[i] = oddValue(r)
				}
				return
			}
			value = parent[i]
		}
	}
}

// isLeaf reports whether a value has no values in it.
func isLeaf(value any) bool {
	switch v := value.(type) {
	case object:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return true
}

// TestRandomObjects creates variants of the objects of all cases. One that is accepted can be read,
// sent back, patched and applied. One that is refused leaves no trace.
func TestRandomObjects(t *testing.T) {
	variants := 6
	if testing.Short() {
		variants = 1
	}
	seed := rand.Uint64()
	paths := collections(t)
	for _, c := range append(casesIn(t, "stored"), casesIn(t, "validation")...) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := &player{server: startServer(t), paths: paths, symbols: symbols{"$ns": namespace, "$id": id}}
			r := rand.New(rand.NewPCG(seed, 0))
			for i := range variants {
				resolved, err := p.symbols.resolve(c.Create)
				require.NoError(t, err)
				for range i {
					mutate(r, resolved.(object))
				}
				require.NoError(t, p.checkVariant(resolved.(object)), "variant %d of seed %d: %v", i, seed, resolved)
			}
		})
	}
}

// checkVariant creates an object and deletes it again.
func (p *player) checkVariant(body object) error {
	collection := p.paths[[2]string{body["apiVersion"].(string), body["kind"].(string)}]
	before, err := p.revision()
	if err != nil {
		return err
	}
	code, created, err := p.send(http.MethodPost, collection, jsonType, body)
	switch {
	case err != nil:
		return err
	case code >= 500:
		return fmt.Errorf("code %d: %v", code, created)
	case code >= 300:
		if after, err := p.revision(); err != nil || after != before {
			return fmt.Errorf("a refused object changed the resourceVersion from %v to %v, %v", before, after, err)
		}
		return nil
	}
	name, _ := lookup(created, []string{"metadata", "name"}).(string)
	if name == "" || lookup(created, []string{"metadata", "uid"}) == nil { // a review
		return nil
	}
	p.path = collection + "/" + url.PathEscape(name)
	if err := p.checkAccepted(created); err != nil {
		return fmt.Errorf("%w\nof %v", err, created)
	}
	return p.deleteObject()
}

// checkAccepted sends the object at path again in each way that writes it.
func (p *player) checkAccepted(created object) error {
	version := lookup(created, []string{"metadata", "resourceVersion"})
	sameVersion := func(got object) error {
		if now := lookup(got, []string{"metadata", "resourceVersion"}); now != version {
			return fmt.Errorf("resourceVersion %v, want %v: %v", now, version, got)
		}
		return nil
	}
	code, got, err := p.send(http.MethodGet, p.path, "", nil)
	if err != nil || code != http.StatusOK {
		return fmt.Errorf("GET: %d %v %w", code, got, err)
	}
	if code, answer, err := p.send(http.MethodPut, p.path, jsonType, got); err != nil || code != http.StatusOK || sameVersion(answer) != nil {
		return fmt.Errorf("PUT: %d %v %w %w", code, answer, err, sameVersion(answer))
	}
	if code, answer, err := p.send(http.MethodPatch, p.path, mergePatchType, object{}); err != nil || code != http.StatusOK || sameVersion(answer) != nil {
		return fmt.Errorf("an empty patch: %d %v %w %w", code, answer, err, sameVersion(answer))
	}
	meta := got["metadata"].(object)
	delete(meta, "managedFields")
	if code, answer, err := p.send(http.MethodPatch, p.path+"?fieldManager=random&force=true", applyPatchType, got); err != nil || code != http.StatusOK && !isUnmergeable(answer) {
		return fmt.Errorf("apply: %d %v %w", code, answer, err)
	}
	labels := object{"metadata": object{"labels": object{"changed": "true"}}}
	if code, answer, err := p.send(http.MethodPatch, p.path, mergePatchType, labels); err != nil || code != http.StatusOK {
		return fmt.Errorf("a label: %d %v %w", code, answer, err)
	}
	return nil
}

// isUnmergeable reports whether an apply was refused because a list has elements without the keys
// by which an apply merges them, or with the same keys. The validation of some types accepts such
// lists, and a real server cannot apply them either.
func isUnmergeable(answer object) bool {
	message := fmt.Sprint(answer["message"])
	return strings.Contains(message, "duplicate entries for key") || strings.Contains(message, "has an element that omits all key fields")
}

// deleteObject deletes the object at path without its finalizers.
func (p *player) deleteObject() error {
	finalizers := object{"metadata": object{"finalizers": nil}}
	if code, answer, err := p.send(http.MethodPatch, p.path, mergePatchType, finalizers); err != nil || code != http.StatusOK {
		return fmt.Errorf("finalizers: %d %v %w", code, answer, err)
	}
	code, answer, err := p.send(http.MethodDelete, p.path+"?gracePeriodSeconds=0&propagationPolicy=Background", "", nil)
	if err != nil || code >= 300 {
		return fmt.Errorf("DELETE: %d %v %w", code, answer, err)
	}
	return nil
}

// revision returns the resourceVersion of the store.
func (p *player) revision() (any, error) {
	_, list, err := p.send(http.MethodGet, "/api/v1/namespaces?limit=1", "", nil)
	return lookup(list, []string{"metadata", "resourceVersion"}), err
}
