package structural

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// PruneAndDefault brings what a client sent into form. With unknown it gives a complaint about
// each field that it dropped, in the words and order of strict decoding: those of the
// metadata, those of the object by path, those of embedded metadata by path. An error
// is the detail of a 400; the object is then of no use.
func (s *Schema) PruneAndDefault(obj map[string]any, unknown bool) ([]string, error) {
	paths, err := s.coerce(obj, coerceOptions{returnUnknownPaths: unknown})
	if err != nil {
		return nil, err
	}
	s.setDefaults(obj)
	for i, path := range paths {
		paths[i] = `unknown field "` + path + `"` // as it is: WN-01
	}
	return paths, nil
}

// DefaultStored brings what was stored into form, maybe under another schema: nothing is
// refused, malformed metadata is dropped, defaults are set.
func (s *Schema) DefaultStored(obj map[string]any) {
	// With drop set, the one error left is of an object without any readable metadata.
	if _, err := s.coerce(obj, coerceOptions{dropInvalidFields: true, setGeneration: true}); err != nil {
		delete(obj, "metadata")
		_, _ = s.coerce(obj, coerceOptions{dropInvalidFields: true})
	}
	s.setDefaults(obj)
}

// SetDefaults sets the defaults of what an apply has merged, and prunes its nulls. The
// fields of a merge are known already.
func (s *Schema) SetDefaults(obj map[string]any) {
	if !s.preserve {
		s.pruneNulls(obj)
	}
	s.setDefaults(obj)
}

func (s *Schema) pruneNulls(obj map[string]any) {
	if hasNull(obj) {
		defaulting.PruneNonNullableNullsWithoutDefaults(obj, s.structural)
	}
}

// PruneConverted brings into form what a conversion made. It sets no defaults, as a real
// server sets none then, and refuses malformed metadata: an error is the detail of a
// 500.
func (s *Schema) PruneConverted(obj map[string]any) error {
	_, err := s.coerce(obj, coerceOptions{})
	return err
}

// coerceOptions is how an object is brought into form.
type coerceOptions struct {
	dropInvalidFields  bool // malformed metadata is dropped
	setGeneration      bool // a generation of 0 becomes 1
	returnUnknownPaths bool // the paths of unknown fields are wanted
}

// coerce does all but defaulting.
func (s *Schema) coerce(obj map[string]any, c coerceOptions) (unknown []string, err error) {
	restore, unknown, err := c.coerceMetadata(obj)
	if err != nil {
		return nil, err
	}
	if !s.preserve {
		options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: c.returnUnknownPaths}
		unknown = append(unknown, pruning.PruneWithOptions(obj, s.structural, true, options)...)
		s.pruneNulls(obj)
	}
	if s.features.embedded {
		options := objectmeta.CoerceOptions{DropInvalidFields: c.dropInvalidFields, ReturnUnknownFieldPaths: c.returnUnknownPaths}
		fieldErr, paths := objectmeta.CoerceWithOptions(nil, obj, s.structural, false, options)
		if fieldErr != nil {
			return nil, fieldErr
		}
		unknown = append(unknown, paths...)
	}
	return unknown, restore()
}

// coerceMetadata reads the metadata of an object, and gives what puts it back in form.
func (c coerceOptions) coerceMetadata(obj map[string]any) (restore func() error, unknown []string, err error) {
	for _, name := range []string{"kind", "apiVersion"} {
		if _, _, err := unstructured.NestedString(obj, name); err != nil && !c.dropInvalidFields {
			return nil, nil, err
		}
	}
	if isCanonicalMetadata(obj["metadata"], c.setGeneration) {
		return func() error { return nil }, nil, nil
	}
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(obj, objectmeta.ObjectMetaOptions{
		DropMalformedFields:     c.dropInvalidFields,
		ReturnUnknownFieldPaths: c.returnUnknownPaths,
	})
	if err != nil {
		return nil, nil, err
	}
	if !found {
		return func() error { return nil }, nil, nil
	}
	if c.setGeneration && meta.Generation == 0 {
		meta.Generation = 1
	}
	return func() error { return objectmeta.SetObjectMeta(obj, meta) }, unknown, nil
}

// setDefaults sets the defaults of the schema.
func (s *Schema) setDefaults(obj map[string]any) {
	if s.features.defaults {
		defaulting.Default(obj, s.structural)
	}
}

// hasNull reports whether there is a null anywhere in a value.
func hasNull(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, v := range value {
			if hasNull(v) {
				return true
			}
		}
	case []any:
		for _, v := range value {
			if hasNull(v) {
				return true
			}
		}
	}
	return false
}
