package structural

import (
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// compiled is what is made of a schema, once in a process.
type compiled struct {
	structural      *structuralschema.Structural // nil if there is none
	features        features
	objectValidator func() (validation.SchemaValidator, error) // of the object
	statusValidator func() (validation.SchemaValidator, error) // of the status; nil if the schema has none
	celValidator    func() *cel.Validator                      // nil if there are none
}

// compile makes the structural form of a schema, and prepares the rest.
func compile(schema *apiextensionsv1.CustomResourceValidation, preserve bool) (*compiled, error) {
	props, err := toInternal(schema)
	if err != nil {
		return nil, err
	}
	c := &compiled{}
	if props != nil {
		if c.structural, err = newStructural(props, preserve); err != nil {
			return nil, err
		}
	}
	c.features = featuresOf(c.structural)
	c.objectValidator = sync.OnceValues(func() (validation.SchemaValidator, error) { return newValidator(props) })
	c.statusValidator = sync.OnceValues(func() (validation.SchemaValidator, error) {
		if props == nil {
			return nil, nil
		}
		if status, ok := props.Properties["status"]; ok {
			return newValidator(&status)
		}
		return nil, nil
	})
	c.celValidator = sync.OnceValue(func() *cel.Validator {
		if c.structural == nil {
			return nil
		}
		return cel.NewValidator(c.structural, true, celconfig.PerCallLimit)
	})
	return c, nil
}

// toInternal converts a schema into the form that the library works with; nil if there
// is none. It shares nothing with what it was made of.
func toInternal(schema *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, error) {
	if schema == nil || schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	out := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(schema.DeepCopy(), out, nil); err != nil {
		return nil, fmt.Errorf("a schema that cannot be read: %w", err)
	}
	return out.OpenAPIV3Schema, nil
}

// newStructural makes the structural schema. With spec.preserveUnknownFields a schema need not
// be structural, and is then worth nothing but its validation.
func newStructural(props *apiextensions.JSONSchemaProps, preserve bool) (*structuralschema.Structural, error) {
	s, err := structuralschema.NewStructural(props)
	if err != nil && !preserve {
		return nil, fmt.Errorf("a schema that is not structural: %w", err)
	}
	if err != nil || s == nil {
		return nil, nil
	}
	s = s.DeepCopy() // its defaults belong to props
	if !preserve {
		if err := defaulting.PruneDefaults(s); err != nil {
			return nil, fmt.Errorf("a schema with defaults that cannot be pruned: %w", err)
		}
	}
	return s, nil
}

// newValidator makes the validator of a schema, or of none.
func newValidator(props *apiextensions.JSONSchemaProps) (validation.SchemaValidator, error) {
	v, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, fmt.Errorf("a schema that cannot be validated with: %w", err)
	}
	return v, nil
}

// features tell what a schema has anywhere in it. Steps that have nothing to do are
// left out.
type features struct {
	defaults bool // a default
	embedded bool // an embedded object
	unique   bool // a list that is a set or a map
}

// featuresOf looks through a schema.
func featuresOf(s *structuralschema.Structural) (t features) {
	if s == nil {
		return t
	}
	visitor := structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		t.defaults = t.defaults || s.Default.Object != nil
		t.embedded = t.embedded || s.XEmbeddedResource
		t.unique = t.unique || s.XListType != nil && *s.XListType != "atomic"
		return false
	}}
	visitor.Visit(s)
	return t
}
