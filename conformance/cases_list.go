package conformance

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

const docCollections = "Kubernetes API Concepts, Collections"

// listCases returns the cases about collections (LS).
func listCases() []Case {
	return slices.Concat([]Case{
		onSecrets(Case{
			ID: "LS-02/typed", Level: Must, Title: "the items of a typed list have no kind and apiVersion",
			Why:    "clients set them themselves",
			Source: docCollections,
		}, checkItemTypes(false)),
		onBasicCRs(Case{
			ID: "LS-02/custom", Level: Must, Title: "the items of a custom list have kind and apiVersion",
			Why:    "dynamic clients decode items by them",
			Source: "apiextensions customresource_handler.go",
		}, checkItemTypes(true)),
		{
			ID: "LS-03/absent", Level: Must, Title: "a list in a namespace that does not exist is empty",
			Why:    "listing must work before and after the namespace exists",
			Source: "apiserver registry/generic/registry/store.go", check: checkListInAbsentNamespace,
		},
		onBasicCRs(Case{
			ID: "LS-06", Level: Must, Title: "the metadata of an empty custom list has an empty continue and a resourceVersion",
			Why:    "strict decoders and recordings expect it",
			Source: "apimachinery unstructured lists",
		}, checkEmptyCRList),
		{
			ID: "LS-07", Level: Must, Title: "no collection has the kind List",
			Why:    "only clients such as kubectl use List; decoders expect <Kind>List",
			Source: docCollections, check: checkNoPlainList,
		},
	},
		onBoth(Case{
			ID: "LS-01", Level: Must, Title: "a list has the kind <Kind>List, the apiVersion of the URL, a resourceVersion and items",
			Why:    "informers decode it and start a watch from its resourceVersion",
			Source: docCollections,
		}, checkList),
		onBoth(Case{
			ID: "LS-01/empty", Level: Must, Title: "the items of an empty list are [], not null",
			Why:    "scripts iterate over them",
			Source: "API conventions, Lists and Simple kinds",
		}, func(ctx context.Context, s *session, c collection) error {
			l, err := c.list(ctx, "")
			if err != nil {
				return err
			}
			var raw struct{ Items json.RawMessage }
			if err := l.response.decode(&raw); err != nil {
				return err
			}
			if string(raw.Items) != "[]" {
				return l.response.errorf("expected items [], got %q", raw.Items)
			}
			return nil
		}),
		onBoth(Case{
			ID: "LS-04", Level: Must, Title: "a watch from the resourceVersion of a list neither misses nor repeats a change",
			Why:    "informers list and then watch",
			Source: "Kubernetes API Concepts, Efficient detection of changes",
		}, checkListThenWatch),
		onBoth(Case{
			ID: "LS-05", Level: Should, Title: "items are ordered by namespace, then by name",
			Why:    "pages follow this order, and users read it",
			Source: "apiserver storage/etcd3",
		}, checkListOrder),
		onBoth(Case{
			ID: "LS-08", Level: May, Title: "a list may carry timeoutSeconds",
			Why:    "clients limit their requests with it",
			Source: "Kubernetes API reference, list options",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := c.create(ctx, c.object("a")); err != nil {
				return err
			}
			l, err := c.list(ctx, "?timeoutSeconds=20")
			if err != nil {
				return err
			}
			return l.expectNames("a")
		}),
	)
}

func checkList(ctx context.Context, s *session, c collection) error {
	for _, name := range []string{"a", "b"} {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
	}
	r, err := s.do(ctx, get(c.path()), code(200), mediaType("application/json"), kind(c.apiVersion, c.kind+"List"))
	if err != nil {
		return err
	}
	var l objectList
	if err := r.decode(&l); err != nil {
		return err
	}
	l.response = r
	for _, item := range l.Items {
		if item.UID == "" {
			return r.errorf("expected every item with its own metadata, %s has no uid", item.Name)
		}
		if err := expectNotOlder(l.Metadata.ResourceVersion, item.ResourceVersion); err != nil {
			return r.errorf("the list is older than its item %s: %w", item.Name, err)
		}
	}
	return l.expectNames("a", "b")
}

func checkItemTypes(want bool) collectionCheck {
	return func(ctx context.Context, _ *session, c collection) error {
		if _, err := c.create(ctx, c.object("a")); err != nil {
			return err
		}
		l, err := c.list(ctx, "")
		if err != nil {
			return err
		}
		if err := l.expectNames("a"); err != nil {
			return err
		}
		item := l.Items[0]
		if want && (item.Kind != c.kind || item.APIVersion != c.apiVersion) {
			return l.response.errorf("expected items of %s %s, got %q %q", c.apiVersion, c.kind, item.APIVersion, item.Kind)
		}
		if !want && (item.Kind != "" || item.APIVersion != "") {
			return l.response.errorf("expected items without kind and apiVersion, got %q %q", item.APIVersion, item.Kind)
		}
		return nil
	}
}

func checkListInAbsentNamespace(ctx context.Context, s *session) error {
	l, err := s.list(ctx, "/api/v1/namespaces/"+s.run.config.NamespacePrefix+"-"+s.run.id+"-nowhere/secrets")
	if err != nil {
		return err
	}
	if l.Kind != "SecretList" || l.Metadata.ResourceVersion == "" {
		return l.response.errorf("expected a SecretList with a resourceVersion")
	}
	return l.expectNames()
}

func checkEmptyCRList(ctx context.Context, _ *session, c collection) error {
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	var raw struct{ Metadata map[string]any }
	if err := l.response.decode(&raw); err != nil {
		return err
	}
	token, found := raw.Metadata["continue"]
	if version, _ := raw.Metadata["resourceVersion"].(string); !found || token != "" || version == "" || len(raw.Metadata) != 2 {
		return l.response.errorf(`expected metadata {"continue":"","resourceVersion":"N"}, got %v`, raw.Metadata)
	}
	return nil
}

func checkNoPlainList(ctx context.Context, s *session) error {
	ns, err := s.namespace(ctx)
	if err != nil {
		return err
	}
	for _, resource := range []string{"configmaps", "pods", "secrets", "services"} {
		l, err := s.list(ctx, "/api/v1/namespaces/"+ns+"/"+resource)
		if err != nil {
			return err
		}
		if l.Kind == "List" || !strings.HasSuffix(l.Kind, "List") {
			return l.response.errorf("expected a kind that ends in List, got %q", l.Kind)
		}
	}
	return nil
}

func checkListThenWatch(ctx context.Context, _ *session, c collection) error {
	for _, name := range []string{"a", "b"} {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	changed, err := c.annotate(ctx, "a", "1") // before the watch is opened
	if err != nil {
		return err
	}
	w, err := c.watch(ctx, "?watch=true&resourceVersion="+l.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer w.close()
	made, err := c.create(ctx, c.object("c")) // after the watch is opened
	if err != nil {
		return err
	}
	if err := w.wantAt("MODIFIED", "a", changed.ResourceVersion); err != nil {
		return err
	}
	return w.wantAt("ADDED", "c", made.ResourceVersion)
}

func checkListOrder(ctx context.Context, s *session, c collection) error {
	other, err := c.inNewNamespace(ctx)
	if err != nil {
		return err
	}
	var want []string
	for _, in := range []collection{other, c} {
		for _, name := range []string{"c", "a", "b", "a.b", "a-b"} {
			if _, err := in.create(ctx, in.object(name).withLabel("run", c.namespace)); err != nil {
				return err
			}
			want = append(want, in.namespace+"/"+name)
		}
	}
	slices.Sort(want) // in the order of the storage keys NAMESPACE/NAME
	l, err := s.list(ctx, c.allNamespacesPath()+"?labelSelector=run="+c.namespace)
	if err != nil {
		return err
	}
	var got []string
	for _, item := range l.Items {
		got = append(got, item.Namespace+"/"+item.Name)
	}
	if !slices.Equal(got, want) {
		return l.response.errorf("expected the order %v, got %v", want, got)
	}
	return nil
}
