package conformance

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const protobufMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// partialCases are about objects down to their metadata (PM).
func partialCases() []Case {
	return slices.Concat(
		both(Case{
			ID: "PM-01", Level: Must, Title: "an object as PartialObjectMetadata has a kind, an apiVersion and metadata, and nothing else",
			Why:    "clients ask for it to save memory",
			Source: docFormat,
		}, onFive(partialObject)),
		both(Case{
			ID: "PM-02", Level: Must, Title: "a list as PartialObjectMetadataList has items of that kind",
			Why:    "metadata informers list this way",
			Source: docFormat,
		}, onFive(partialList)),
		both(Case{
			ID: "PM-03", Level: Must, Title: "a list is not acceptable as PartialObjectMetadata",
			Why:    "the client has mistaken what it asks",
			Source: codeTable,
		}, onFive(listAsObject)),
		[]Case{
			on((*session).configMaps, Case{
				ID: "PM-04/typed", Level: Must, Title: "an object is not acceptable as PartialObjectMetadataList",
				Why:    "the client has mistaken what it asks",
				Source: codeTable,
			}, objectAsList(refusal{
				code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable,
				says: "you requested PartialObjectMetadataList, but the requested object is not a list (",
			})),
			onWidgets(Case{
				ID: "PM-04/custom", Level: Must, Title: "a custom resource cannot be made a PartialObjectMetadataList",
				Why:    "the client has mistaken what it asks",
				Source: codeTable,
			}, objectAsList(refusal{code: http.StatusInternalServerError, message: "content is not a list"})),
		},
		both(Case{
			ID: "PM-05", Level: Must, Title: "PartialObjectMetadata comes in protobuf, of custom resources too",
			Why:    "the metadata client asks for nothing else",
			Source: docFormat,
		}, onFive(partialProtobuf)),
		both(Case{
			ID: "PM-06", Level: Must, Title: "writes answer with PartialObjectMetadata too",
			Why:    "the metadata client patches and deletes",
			Source: codeTable,
		}, partialWrites),
		both(Case{
			ID: "PM-07", Level: Must, Title: "the metadata is that of the whole object",
			Why:    "writers read finalizers and owners from it",
			Source: docFormat,
		}, samePartial),
	)
}

// onlyMetadata expects PartialObjectMetadata with no other fields.
func onlyMetadata(a *answer) error {
	var o map[string]any
	if err := a.decode(&o); err != nil {
		return err
	}
	if len(o) != 3 || o["metadata"] == nil {
		return a.errorf("expected kind, apiVersion and metadata only")
	}
	return kind(tableGroup, "PartialObjectMetadata")(a)
}

func partialObject(ctx context.Context, s *session, c collection) error {
	if err := s.try(ctx, get(c.item("b")).as(asMetadata), code(200), onlyMetadata, field("b", "metadata", "name")); err != nil {
		return err
	}
	old := get(c.item("b")).as("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1")
	return s.try(ctx, old, code(200), kind("meta.k8s.io/v1beta1", "PartialObjectMetadata"), field("b", "metadata", "name"))
}

func partialList(ctx context.Context, s *session, c collection) error {
	a, err := s.do(ctx, get(c.path()).as(asMetaList), code(200), kind(tableGroup, "PartialObjectMetadataList"))
	if err != nil {
		return err
	}
	l := objectList{from: a}
	if err := a.decode(&l); err != nil {
		return err
	}
	for _, item := range l.Items {
		if item.Kind != "PartialObjectMetadata" || item.APIVersion != tableGroup {
			return a.errorf("expected items that are %s PartialObjectMetadata, got %q %q", tableGroup, item.APIVersion, item.Kind)
		}
	}
	return l.has(fiveNames...)
}

func listAsObject(ctx context.Context, s *session, c collection) error {
	refused := refusal{
		code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable,
		says: "you requested PartialObjectMetadata, but the requested object is a list (",
	}
	return s.try(ctx, get(c.path()).as(asMetadata), refused.check)
}

func objectAsList(want refusal) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		if _, err := c.create(ctx, c.object("a")); err != nil {
			return err
		}
		return s.try(ctx, get(c.item("a")).as(asMetaList), want.check)
	}
}

func partialProtobuf(ctx context.Context, s *session, c collection) error {
	a, err := s.do(ctx, get(c.item("b")).as(protobufMetadata), code(200), mediaType("application/vnd.kubernetes.protobuf"))
	if err != nil {
		return err
	}
	if got, err := protobufKind(a.body); err != nil || got != "PartialObjectMetadata" {
		return a.errorf("expected a PartialObjectMetadata, got a %q and the error %v", got, err)
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(a.body[4:]); err != nil {
		return a.errorf("expected an envelope: %w", err)
	}
	var o metav1.PartialObjectMetadata
	if err := o.Unmarshal(envelope.Raw); err != nil || o.Name != "b" {
		return a.errorf("expected the metadata of b, got %q and the error %v", o.Name, err)
	}
	return nil
}

func partialWrites(ctx context.Context, s *session, c collection) error {
	if err := s.try(ctx, post(c.path(), c.object("a").held()).as(asMetadata), code(http.StatusCreated), onlyMetadata); err != nil {
		return err
	}
	whole, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	var o object
	if err := whole.decode(&o); err != nil {
		return err
	}
	o["metadata"].(map[string]any)["labels"] = object{"step": "update"}
	if err := s.try(ctx, put(c.item("a"), o).as(asMetadata), code(200), onlyMetadata, field("update", "metadata", "labels", "step")); err != nil {
		return err
	}
	patched := mergePatch(c.item("a"), object{"metadata": object{"labels": object{"step": "patch"}}}).as(asMetadata)
	if err := s.try(ctx, patched, code(200), onlyMetadata, field("patch", "metadata", "labels", "step")); err != nil {
		return err
	}
	return s.try(ctx, del(c.item("a")).as(asMetadata), code(200), onlyMetadata, present("metadata", "deletionTimestamp"))
}

func samePartial(ctx context.Context, s *session, c collection) error {
	body := c.object("a").held().label("k", "v").meta("annotations", object{"a": "b"})
	if _, err := c.create(ctx, body); err != nil {
		return err
	}
	var metadata [2]struct{ Metadata map[string]any }
	for i, accept := range []string{"application/json", asMetadata} {
		a, err := s.do(ctx, get(c.item("a")).as(accept), code(200))
		if err != nil {
			return err
		}
		if err := a.decode(&metadata[i]); err != nil {
			return err
		}
		if i == 1 && !reflect.DeepEqual(metadata[0], metadata[1]) {
			return a.errorf("expected the metadata %v", metadata[0].Metadata)
		}
	}
	return nil
}
