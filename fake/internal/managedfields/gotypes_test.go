package managedfields

import (
	"fmt"
	"math/rand"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// unstoredResources returns the resources of the bodies of requests whose objects are not stored,
// with the FieldManager of each.
func unstoredResources(t *testing.T) map[*resource.Resource]*FieldManager {
	managers := map[*resource.Resource]*FieldManager{}
	add := func(parent, body *resource.Resource, subresource string) {
		m, err := BuiltinFieldManager(parent, subresource)
		require.NoError(t, err)
		managers[body] = m
	}
	for _, res := range builtin.Table().All() {
		if res.IsOnlyCreated() {
			add(res, res, "")
		}
		for _, sub := range res.Subresources {
			if body := sub.BodyResource(); body != nil && !sub.WritesObject() && !sub.HasVerb("patch") {
				add(res, body, sub.Name)
			}
		}
	}
	return managers
}

// The fast path and the library agree about random objects that are not stored.
func TestFastPathOfUnstoredTypes(t *testing.T) {
	kinds := map[string]bool{}
	d := differentialTest{}
	for res, m := range unstoredResources(t) {
		kinds[res.Kind] = true
		t.Run(fmt.Sprintf("%s %s", res.Kind, m.subresource), func(t *testing.T) {
			g := &generator{t: t, res: res}
			for seed := range int64(seeds(false)) {
				g.rng = rand.New(rand.NewSource(seed))
				synctest.Test(t, func(t *testing.T) {
					obj := g.object(g.document())
					d.update(t, m, nil, obj, "kubectl", fmt.Sprintf("seed %d", seed))
				})
			}
		})
	}
	d.requireFast(t, 75)
	for _, kind := range []string{"SubjectAccessReview", "TokenReview", "TokenRequest", "Binding", "Eviction"} {
		require.True(t, kinds[kind], kind)
	}
}

// The fields of an object that is not stored are those of the Go type. Its lists are atomic.
func TestCreateOfUnstoredTypes(t *testing.T) {
	for _, one := range []struct{ kind, body, want string }{
		{
			"SubjectAccessReview", `{"spec":{"user":"a","groups":["b"],"extra":{"k":["v"]},"nonResourceAttributes":{"path":"/"}},"status":{"allowed":false}}`,
			`{"f:spec":{"f:extra":{".":{},"f:k":{}},"f:groups":{},"f:nonResourceAttributes":{".":{},"f:path":{}},"f:user":{}}}`,
		},
		{"TokenReview", `{"spec":{"token":"a","audiences":["b"]}}`, `{"f:spec":{"f:audiences":{},"f:token":{}}}`},
		{"TokenRequest", `{"spec":{"audiences":["a"],"expirationSeconds":600}}`, `{"f:spec":{"f:audiences":{},"f:expirationSeconds":{}}}`},
		{"Binding", `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`, `{"f:target":{}}`},
	} {
		t.Run(one.kind, func(t *testing.T) {
			found := 0
			for res, m := range unstoredResources(t) {
				if res.Kind != one.kind {
					continue
				}
				found++
				obj := m.Update(nil, decode(t, res, one.body), "kubectl")
				entries := resource.Accessor(obj).GetManagedFields()
				require.Len(t, entries, 1)
				require.Equal(t, one.want, string(entries[0].FieldsV1.GetRawBytes()))
				require.Equal(t, m.subresource, entries[0].Subresource)
			}
			require.Positive(t, found)
		})
	}
}
