package structural

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// compiled is the compiled form of a schema.
type compiled struct {
	structural      *structuralschema.Structural // nil if there is no structural schema
	features        features
	shape           func() *shape
	objectValidator func() (*validator, error) // of the whole object
	statusValidator func() (*validator, error) // of the status; nil if the schema has none
	celValidator    func() *cel.Validator      // nil without structural schema
}

// compile makes the structural schema. The validators are made on first use.
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
	c.shape = sync.OnceValue(func() *shape { return newRootShape(c.structural) })
	c.objectValidator = sync.OnceValues(func() (*validator, error) { return newValidator(props) })
	c.statusValidator = sync.OnceValues(func() (*validator, error) {
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

// toInternal converts a schema to the internal version; nil if there is none. The result shares no
// memory with schema.
func toInternal(schema *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, error) {
	if schema == nil || schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	out := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(schema.DeepCopy(), out, nil); err != nil {
		return nil, fmt.Errorf("converting the schema: %w", err)
	}
	return out.OpenAPIV3Schema, nil
}

// newStructural returns the structural schema. With spec.preserveUnknownFields a schema need not be
// structural; the result is nil then.
func newStructural(props *apiextensions.JSONSchemaProps, preserve bool) (*structuralschema.Structural, error) {
	s, err := structuralschema.NewStructural(props)
	if err != nil && !preserve {
		return nil, fmt.Errorf("the schema is not structural: %w", err)
	}
	if err != nil || s == nil {
		return nil, nil
	}
	s = s.DeepCopy() // its defaults share memory with props
	if !preserve {
		if err := defaulting.PruneDefaults(s); err != nil {
			return nil, fmt.Errorf("pruning the defaults of the schema: %w", err)
		}
	}
	return s, nil
}

// features reports what a schema contains, so that unnecessary steps are omitted.
type features struct {
	defaults    bool // a default
	embedded    bool // an embedded object
	transitions bool // a transition rule
}

// featuresOf returns the features of a schema, which may be nil.
func featuresOf(s *structuralschema.Structural) (t features) {
	if s == nil {
		return t
	}
	visitor := structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		t.defaults = t.defaults || s.Default.Object != nil
		t.embedded = t.embedded || s.XEmbeddedResource
		t.transitions = t.transitions || slices.ContainsFunc(s.XValidations, mayBeTransitionRule)
		return false
	}, NestedValueValidation: func(v *structuralschema.NestedValueValidation) bool {
		t.transitions = t.transitions || slices.ContainsFunc(v.XValidations, mayBeTransitionRule)
		return false
	}}
	visitor.Visit(s)
	return t
}

// mayBeTransitionRule reports whether a rule contains the name of the value before the update.
func mayBeTransitionRule(r apiextensionsv1.ValidationRule) bool {
	return strings.Contains(r.Rule, "oldSelf")
}
