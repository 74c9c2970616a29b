package structural

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// PruneAndDefault prunes the object of a client and sets defaults. If unknown is set, it returns a
// message for each dropped field, in the words and order of strict decoding: the fields of the
// metadata, those of the object by path, those of embedded metadata by path. The error is the
// detail of a 400; obj is invalid then.
func (s *Schema) PruneAndDefault(obj map[string]any, unknown bool) ([]string, error) {
	if s.IsPruned(obj) {
		return nil, nil
	}
	return s.pruneAndDefault(obj, unknown)
}

// pruneAndDefault is PruneAndDefault for an object that it may change.
func (s *Schema) pruneAndDefault(obj map[string]any, unknown bool) ([]string, error) {
	paths, err := s.coerce(obj, coerceOptions{returnUnknownPaths: unknown})
	if err != nil {
		return nil, err
	}
	s.setDefaults(obj)
	for i, path := range paths {
		paths[i] = `unknown field "` + path + `"` // the path is not escaped (WN-01)
	}
	return paths, nil
}

// DefaultStored prunes a stored object, which may have been stored under another schema, and sets
// defaults. It drops malformed metadata.
func (s *Schema) DefaultStored(obj map[string]any) {
	// With dropInvalidFields, an error means that no metadata can be decoded.
	if _, err := s.coerce(obj, coerceOptions{dropInvalidFields: true, setGeneration: true}); err != nil {
		delete(obj, "metadata")
		_, _ = s.coerce(obj, coerceOptions{dropInvalidFields: true})
	}
	s.setDefaults(obj)
}

// SetDefaults sets the defaults of an object that results from an apply. It prunes nothing: the
// object has no unknown fields, and a null that is not allowed makes the apply fail.
func (s *Schema) SetDefaults(obj map[string]any) {
	if !s.IsPruned(obj) {
		s.setDefaults(obj)
	}
}

func (s *Schema) pruneNulls(obj map[string]any) {
	if hasNull(obj) {
		defaulting.PruneNonNullableNullsWithoutDefaults(obj, s.structural)
	}
}

// PruneConverted prunes the result of a conversion. It sets no defaults, as a real server does. The
// error is the detail of a 500 and reports malformed metadata.
func (s *Schema) PruneConverted(obj map[string]any) error {
	_, err := s.coerce(obj, coerceOptions{})
	return err
}

// coerceOptions selects how coerce changes an object.
type coerceOptions struct {
	dropInvalidFields  bool // drop malformed metadata instead of returning an error
	setGeneration      bool // change generation 0 to 1
	returnUnknownPaths bool // return the paths of unknown fields
}

// coerce prunes an object and decodes its metadata, without setting defaults.
func (s *Schema) coerce(obj map[string]any, c coerceOptions) (unknown []string, err error) {
	setMetadata, unknown, err := c.coerceMetadata(obj)
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
	return unknown, setMetadata()
}

// coerceMetadata decodes the metadata of an object and returns a function that sets it in canonical
// form.
func (c coerceOptions) coerceMetadata(obj map[string]any) (setMetadata func() error, unknown []string, err error) {
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

// hasNull reports whether a value is or contains null.
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
