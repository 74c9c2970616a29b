package aggregator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	openapiaggregator "k8s.io/kube-openapi/pkg/aggregator"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/openapi"
)

// v3Index has the URLs of the v3 documents of a server by their names. Those of a server without v3
// are nil.
type v3Index map[string]string

// v2Document is the part of a v2 document about a group and version.
type v2Document = *spec.Swagger

// fromAvailable returns the results of fetch for the APIServices whose servers are available, which
// it calls for all at once.
func fromAvailable[T any](a *Aggregator, fetch func(*APIService) T) []T {
	available := slices.DeleteFunc(slices.Clone(a.current().sorted), func(s *APIService) bool { return !s.IsAvailable() })
	results := make([]T, len(available))
	var group sync.WaitGroup
	for i, s := range available {
		group.Go(func() { results[i] = fetch(s) })
	}
	group.Wait()
	return results
}

// OpenAPIV3 returns the URLs of the v3 documents of other servers by their names. One that does not
// answer has none.
func (a *Aggregator) OpenAPIV3(ctx context.Context) map[string]string {
	merged := make(map[string]string)
	for _, index := range fromAvailable(a, func(s *APIService) v3Index { return a.v3Index(ctx, s) }) {
		maps.Copy(merged, index)
	}
	return merged
}

// FindOpenAPIV3 returns the APIService whose server has the v3 document with a name, or nil.
func (a *Aggregator) FindOpenAPIV3(ctx context.Context, name string) *APIService {
	return cmp.Or(fromAvailable(a, func(s *APIService) *APIService {
		if _, ok := a.v3Index(ctx, s)[name]; ok {
			return s
		}
		return nil
	})...)
}

// v3Index returns the URLs of the v3 documents of a server, for the group and version of s only:
// the others, such as that of /version, are also those of this server.
func (a *Aggregator) v3Index(ctx context.Context, s *APIService) v3Index {
	d := a.documentsOf(ctx, s)
	if d == nil {
		return nil
	}
	defer d.unlock()
	index, _ := d.v3.get(ctx, func(ctx context.Context) (v3Index, error) {
		w, err := a.fetch(ctx, s, openapi.V3Root, runtime.ContentTypeJSON)
		if err != nil || w.Code == http.StatusNotFound {
			return nil, err
		}
		var list struct {
			Paths map[string]openapi.IndexEntry `json:"paths"`
		}
		if w.Code != http.StatusOK {
			return nil, fmt.Errorf("%s: %d", openapi.V3Root, w.Code)
		}
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
			return nil, err
		}
		name := "apis/" + s.Spec.Group + "/" + s.Spec.Version
		if entry, ok := list.Paths[name]; ok {
			return v3Index{name: entry.ServerRelativeURL}, nil
		}
		return nil, nil
	})
	return index
}

// OpenAPIV2 returns the parts of the v2 documents of other servers about their groups and versions.
// One that does not answer has none.
func (a *Aggregator) OpenAPIV2(ctx context.Context) []*spec.Swagger {
	parts := fromAvailable(a, func(s *APIService) *spec.Swagger { return a.v2Document(ctx, s) })
	return slices.DeleteFunc(parts, func(part *spec.Swagger) bool { return part == nil })
}

func (a *Aggregator) v2Document(ctx context.Context, s *APIService) *spec.Swagger {
	d := a.documentsOf(ctx, s)
	if d == nil {
		return nil
	}
	defer d.unlock()
	part, _ := d.v2.get(ctx, func(ctx context.Context) (v2Document, error) {
		w, err := a.fetch(ctx, s, "/openapi/v2", runtime.ContentTypeJSON)
		if err != nil || w.Code == http.StatusNotFound {
			return nil, err
		}
		if w.Code != http.StatusOK {
			return nil, fmt.Errorf("/openapi/v2: %d", w.Code)
		}
		doc := &spec.Swagger{}
		if err := doc.UnmarshalJSON(w.Body.Bytes()); err != nil {
			return nil, err
		}
		return openapiaggregator.FilterSpecByPathsWithoutSideEffects(doc, []string{"/apis/" + s.Spec.Group + "/" + s.Spec.Version + "/"}), nil
	})
	return part
}
