package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// metaListCases returns the cases about the encoding of metadata in objects and lists (MD-25 to
// MD-30).
func metaListCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "MD-25", Level: Must, Title: "managedFields has one entry for each manager, operation and apiVersion",
			Why:    "apply finds the other managers in it",
			Source: "Server-Side Apply, Field management",
		}, func(ctx context.Context, s *session, c collection) error {
			return checkManagedFieldsEntries(ctx, s, c, nil)
		}),
		onStatus(Case{
			ID: "MD-25/status", Level: Must, Title: "writes of a manager to a subresource have an entry of their own in managedFields",
			Why:    "a controller that applies must not lose its status",
			Source: "Server-Side Apply, Field management",
		}, func(ctx context.Context, s *session, c collection) error {
			return checkManagedFieldsEntries(ctx, s, c, []string{"one Update status"}, c.statusPatch("a").withFieldManager("one"))
		}),
		onBoth(Case{
			ID: "MD-26", Level: Should, Title: "unset labels and annotations are omitted",
			Why:    "null differs from an empty map for some clients",
			Source: "API conventions, Optional vs. Required",
		}, func(ctx context.Context, s *session, c collection) error {
			bare := func(r *response) error {
				return r.expect(noField("metadata", "labels"), noField("metadata", "annotations"))
			}
			if err := s.expect(ctx, post(c.path(), c.object("a").withMeta("labels", nil).withMeta("annotations", object{})), code(201), bare); err != nil {
				return err
			}
			if _, err := c.setLabel(ctx, "a", "a", "b"); err != nil {
				return err
			}
			return s.expect(ctx, mergePatch(c.item("a"), object{"metadata": object{"labels": object{"a": nil}}}), code(200), bare)
		}),
		onBoth(Case{
			ID: "MD-27", Level: Must, Title: "every item of a list has the resourceVersion of its last change, and the list has the latest or a later one",
			Why:    "clients write items back with it",
			Source: "API conventions, Lists and Simple kinds",
		}, checkItemVersions),
		onBoth(Case{
			ID: "MD-29", Level: Should, Title: "the metadata of a list describes only the list",
			Why:    "a list is not an object",
			Source: "API conventions, Lists and Simple kinds",
		}, checkListMetadata),
		onBoth(Case{
			ID: "MD-30", Level: Must, Title: "field names are case-sensitive",
			Why:    "a field in another case is unknown and ignored",
			Source: "API conventions, Naming",
		}, func(ctx context.Context, s *session, c collection) error {
			misspelled := c.object("a").withMeta("Labels", object{"a": "b"}).withMeta("ANNOTATIONS", object{"a": "b"})
			return s.expect(ctx, post(c.path(), misspelled), code(201), noField("metadata", "labels"), noField("metadata", "annotations"),
				noField("metadata", "Labels"), noField("metadata", "ANNOTATIONS"))
		}),
	)
}

// checkManagedFieldsEntries writes an object with the managers one and two in two ways and with the
// given writes, and expects one entry in managedFields for each, as "MANAGER OPERATION
// SUBRESOURCE". Entries of controllers are ignored.
func checkManagedFieldsEntries(ctx context.Context, s *session, c collection, more []string, writes ...call) error {
	if err := s.expect(ctx, post(c.path(), c.object("a").withLabel("a", "b")).withFieldManager("one"), code(201)); err != nil {
		return err
	}
	label := func(value string) object { return object{"metadata": object{"labels": object{"c": value}}} }
	for _, write := range append(writes,
		mergePatch(c.item("a"), label("1")).withFieldManager("two"),
		mergePatch(c.item("a"), label("2")).withFieldManager("two"),
		apply(c.item("a"), c.object("a").withLabel("d", "e")).withFieldManager("two"),
	) {
		if err := s.expect(ctx, write, code(200)); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(200), metadata(func(m metav1.ObjectMeta) error {
		var got []string
		for _, entry := range m.ManagedFields {
			if entry.Manager != "one" && entry.Manager != "two" {
				continue
			}
			if entry.APIVersion != c.apiVersion || entry.FieldsType != "FieldsV1" || entry.FieldsV1 == nil || entry.Time == nil {
				return fmt.Errorf("expected an entry with apiVersion %s, FieldsV1 and a time, got %v", c.apiVersion, entry)
			}
			got = append(got, fmt.Sprintf("%s %s %s", entry.Manager, entry.Operation, entry.Subresource))
		}
		want := append([]string{"one Update ", "two Apply ", "two Update "}, more...)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			return fmt.Errorf("expected the managers %q, got %q", want, got)
		}
		return nil
	}))
}

func checkItemVersions(ctx context.Context, s *session, c collection) error {
	versions := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"c", "a", "b"} {
		o, err := c.annotate(ctx, name, "changed")
		if err != nil {
			return err
		}
		versions[name] = o.ResourceVersion
	}
	l, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	if err := l.expectNames("a", "b", "c"); err != nil {
		return err
	}
	for _, item := range l.Items {
		if item.ResourceVersion != versions[item.Name] || item.UID == "" {
			return l.response.errorf("expected %s with a uid and resourceVersion %s, got %q %q", item.Name, versions[item.Name], item.UID, item.ResourceVersion)
		}
		if err := expectNotOlder(l.Metadata.ResourceVersion, item.ResourceVersion); err != nil {
			return l.response.errorf("the metadata of the list: %w", err)
		}
	}
	return nil
}

func checkListMetadata(ctx context.Context, s *session, c collection) error {
	for _, name := range []string{"a", "b"} {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
	}
	for _, query := range []string{"", "?limit=1", "?resourceVersion=0"} {
		r, err := s.do(ctx, get(c.path()+query), code(200))
		if err != nil {
			return err
		}
		var l struct {
			Metadata map[string]json.RawMessage `json:"metadata"`
		}
		if err := r.decode(&l); err != nil {
			return err
		}
		for name := range l.Metadata {
			if !slices.Contains([]string{"resourceVersion", "continue", "remainingItemCount", "shardInfo"}, name) {
				return r.errorf("expected no field %s in the metadata of a list", name)
			}
		}
	}
	return nil
}
