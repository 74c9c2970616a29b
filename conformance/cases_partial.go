package conformance

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const mediaTypeProtobufPartial = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// partialCases returns the cases about PartialObjectMetadata (PM).
func partialCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "PM-01", Level: Must, Title: "an object as PartialObjectMetadata has kind, apiVersion and metadata only",
			Why:    "clients request it to save memory",
			Source: docFormat,
		}, onFiveObjects(checkPartialObject)),
		onBoth(Case{
			ID: "PM-02", Level: Must, Title: "a list as PartialObjectMetadataList has items of that kind",
			Why:    "metadata informers list this way",
			Source: docFormat,
		}, onFiveObjects(checkPartialList)),
		onBoth(Case{
			ID: "PM-03", Level: Must, Title: "a list as PartialObjectMetadata is not acceptable",
			Why:    "the client requested the wrong form",
			Source: docTableCode,
		}, onFiveObjects(checkListAsObject)),
		[]Case{
			onCollection((*session).configMaps, Case{
				ID: "PM-04/typed", Level: Must, Title: "an object as PartialObjectMetadataList is not acceptable",
				Why:    "the client requested the wrong form",
				Source: docTableCode,
			}, checkObjectAsList(failure{
				code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable,
				contains: "you requested PartialObjectMetadataList, but the requested object is not a list (",
			})),
			onBasicCRs(Case{
				ID: "PM-04/custom", Level: Must, Title: "a custom object cannot be converted to PartialObjectMetadataList",
				Why:    "the client requested the wrong form",
				Source: docTableCode,
			}, checkObjectAsList(failure{code: http.StatusInternalServerError, message: "content is not a list"})),
		},
		onBoth(Case{
			ID: "PM-05", Level: Must, Title: "PartialObjectMetadata is served in protobuf, for custom resources too",
			Why:    "the metadata client uses protobuf only",
			Source: docFormat,
		}, onFiveObjects(checkPartialProtobuf)),
		onBoth(Case{
			ID: "PM-06", Level: Must, Title: "writes can return PartialObjectMetadata",
			Why:    "the metadata client patches and deletes",
			Source: docTableCode,
		}, checkPartialWrites),
		onBoth(Case{
			ID: "PM-07", Level: Must, Title: "PartialObjectMetadata has the metadata of the object",
			Why:    "clients read finalizers and owners from it",
			Source: docFormat,
		}, checkPartialMetadataEqual),
	)
}

// isPartialMetadata expects PartialObjectMetadata without other fields.
func isPartialMetadata(r *response) error {
	var o map[string]any
	if err := r.decode(&o); err != nil {
		return err
	}
	if len(o) != 3 || o["metadata"] == nil {
		return r.errorf("expected kind, apiVersion and metadata only")
	}
	return kind(metaGroupVersion, "PartialObjectMetadata")(r)
}

func checkPartialObject(ctx context.Context, s *session, c collection) error {
	if err := s.expect(ctx, get(c.item("b")).withAccept(mediaTypePartial), code(200), isPartialMetadata, field("b", "metadata", "name")); err != nil {
		return err
	}
	old := get(c.item("b")).withAccept("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1")
	return s.expect(ctx, old, code(200), kind("meta.k8s.io/v1beta1", "PartialObjectMetadata"), field("b", "metadata", "name"))
}

func checkPartialList(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, get(c.path()).withAccept(mediaTypePartialList), code(200), kind(metaGroupVersion, "PartialObjectMetadataList"))
	if err != nil {
		return err
	}
	l := objectList{response: r}
	if err := r.decode(&l); err != nil {
		return err
	}
	for _, item := range l.Items {
		if item.Kind != "PartialObjectMetadata" || item.APIVersion != metaGroupVersion {
			return r.errorf("expected items that are %s PartialObjectMetadata, got %q %q", metaGroupVersion, item.APIVersion, item.Kind)
		}
	}
	return l.expectNames(fiveNames...)
}

func checkListAsObject(ctx context.Context, s *session, c collection) error {
	rejected := failure{
		code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable,
		contains: "you requested PartialObjectMetadata, but the requested object is a list (",
	}
	return s.expect(ctx, get(c.path()).withAccept(mediaTypePartial), rejected.check)
}

func checkObjectAsList(want failure) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		if _, err := c.create(ctx, c.object("a")); err != nil {
			return err
		}
		return s.expect(ctx, get(c.item("a")).withAccept(mediaTypePartialList), want.check)
	}
}

func checkPartialProtobuf(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, get(c.item("b")).withAccept(mediaTypeProtobufPartial), code(200), mediaType("application/vnd.kubernetes.protobuf"))
	if err != nil {
		return err
	}
	if got, err := protobufKind(r.body); err != nil || got != "PartialObjectMetadata" {
		return r.errorf("expected a PartialObjectMetadata, got a %q and the error %v", got, err)
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(r.body[4:]); err != nil {
		return r.errorf("expected an envelope: %w", err)
	}
	var o metav1.PartialObjectMetadata
	if err := o.Unmarshal(envelope.Raw); err != nil || o.Name != "b" {
		return r.errorf("expected the metadata of b, got %q and the error %v", o.Name, err)
	}
	return nil
}

func checkPartialWrites(ctx context.Context, s *session, c collection) error {
	if err := s.expect(ctx, post(c.path(), c.object("a").withFinalizer()).withAccept(mediaTypePartial), code(http.StatusCreated), isPartialMetadata); err != nil {
		return err
	}
	full, err := s.do(ctx, get(c.item("a")), code(200))
	if err != nil {
		return err
	}
	var o object
	if err := full.decode(&o); err != nil {
		return err
	}
	o["metadata"].(map[string]any)["labels"] = object{"step": "update"}
	if err := s.expect(ctx, put(c.item("a"), o).withAccept(mediaTypePartial), code(200), isPartialMetadata, field("update", "metadata", "labels", "step")); err != nil {
		return err
	}
	patched := mergePatch(c.item("a"), object{"metadata": object{"labels": object{"step": "patch"}}}).withAccept(mediaTypePartial)
	if err := s.expect(ctx, patched, code(200), isPartialMetadata, field("patch", "metadata", "labels", "step")); err != nil {
		return err
	}
	return s.expect(ctx, del(c.item("a")).withAccept(mediaTypePartial), code(200), isPartialMetadata, hasField("metadata", "deletionTimestamp"))
}

func checkPartialMetadataEqual(ctx context.Context, s *session, c collection) error {
	body := c.object("a").withFinalizer().withLabel("k", "v").withMeta("annotations", object{"a": "b"})
	if _, err := c.create(ctx, body); err != nil {
		return err
	}
	var metadata [2]struct{ Metadata map[string]any }
	for i, accept := range []string{"application/json", mediaTypePartial} {
		r, err := s.do(ctx, get(c.item("a")).withAccept(accept), code(200))
		if err != nil {
			return err
		}
		if err := r.decode(&metadata[i]); err != nil {
			return err
		}
		if i == 1 && !reflect.DeepEqual(metadata[0], metadata[1]) {
			return r.errorf("expected the metadata %v", metadata[0].Metadata)
		}
	}
	return nil
}
