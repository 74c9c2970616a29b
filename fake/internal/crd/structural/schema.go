package structural

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schema is the schema of one version of a custom resource.
type Schema struct {
	kind     schema.GroupVersionKind
	preserve bool // spec.preserveUnknownFields
	scale    *apiextensionsv1.CustomResourceSubresourceScale
	hash     string
	*compiled
}

// schemaIdentity has everything in a CustomResourceDefinition that affects objects of one version.
type schemaIdentity struct {
	Kind             schema.GroupVersionKind
	Scope            apiextensionsv1.ResourceScope
	Preserve         bool
	Subresources     *apiextensionsv1.CustomResourceSubresources
	SelectableFields []apiextensionsv1.SelectableField
	Schema           string
}

// MetadataOnly returns a schema that prunes nothing and sets no defaults.
func MetadataOnly() *Schema { return &Schema{preserve: true, compiled: &compiled{}} }

// WithoutFields returns a schema that prunes everything but kind, apiVersion and metadata.
func WithoutFields() *Schema {
	return &Schema{compiled: &compiled{
		structural: &structuralschema.Structural{},
		shape:      func() *shape { return newRootShape(nil) },
	}}
}

// New returns the schema of one version. Later changes of crd do not affect it. It returns an error
// if there is no such version, or if its schema is not structural and spec.preserveUnknownFields is
// not set. The kind is the accepted one, or that of the spec if no kind is accepted yet.
func New(crd *apiextensionsv1.CustomResourceDefinition, version string) (*Schema, error) {
	v := findVersion(crd, version)
	if v == nil {
		return nil, fmt.Errorf("customresourcedefinition %s has no version %q", crd.Name, version)
	}
	kind := crd.Status.AcceptedNames.Kind
	if kind == "" {
		kind = crd.Spec.Names.Kind
	}
	id := schemaIdentity{
		Kind:             schema.GroupVersionKind{Group: crd.Spec.Group, Version: version, Kind: kind},
		Scope:            crd.Spec.Scope,
		Preserve:         crd.Spec.PreserveUnknownFields,
		Subresources:     v.Subresources,
		SelectableFields: v.SelectableFields,
	}
	var err error
	if id.Schema, err = schemaDigest(v.Schema); err != nil {
		return nil, err
	}
	s := &Schema{kind: id.Kind, preserve: id.Preserve}
	if s.hash, err = digest(id); err != nil {
		return nil, err
	}
	s.hash = s.hash[:16]
	if v.Subresources != nil {
		s.scale = v.Subresources.Scale.DeepCopy()
	}
	key := compiledKey{schema: id.Schema, preserve: id.Preserve}
	if s.compiled, err = shared().get(key, func() (*compiled, error) { return compile(v.Schema, id.Preserve) }); err != nil {
		return nil, fmt.Errorf("version %q of customresourcedefinition %s: %w", version, crd.Name, err)
	}
	return s, nil
}

// findVersion returns a version of a definition, or nil.
func findVersion(crd *apiextensionsv1.CustomResourceDefinition, version string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == version {
			return &crd.Spec.Versions[i]
		}
	}
	return nil
}

// schemaDigest returns the SHA-256 of a schema in protobuf, which is much faster than JSON. The
// keys of maps are sorted in both.
func schemaDigest(s *apiextensionsv1.CustomResourceValidation) (string, error) {
	if s == nil {
		s = &apiextensionsv1.CustomResourceValidation{} // equivalent
	}
	data, err := s.Marshal()
	if err != nil {
		return "", fmt.Errorf("encoding the schema: %w", err)
	}
	return sha256Hex(data), nil
}

// digest returns the SHA-256 of a value in JSON.
func digest(value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encoding the CustomResourceDefinition: %w", err)
	}
	return sha256Hex(data), nil
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Hash identifies the schema: those with equal hashes have the same effect on objects. It is the
// same in all processes.
func (s *Schema) Hash() string { return s.hash }

// Structural returns the structural schema with its defaults pruned, nil if there is none. It must
// not be changed.
func (s *Schema) Structural() *structuralschema.Structural { return s.structural }

// HasTransitionRules reports whether the schema may have rules of the value before an update, which
// may refuse an update that changes nothing.
func (s *Schema) HasTransitionRules() bool { return s.features.transitions }
