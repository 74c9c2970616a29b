package scenario

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// decodeManifest decodes the YAML or JSON documents of a manifest. There must be at least one, each
// an object with a name.
func decodeManifest(text string) ([]*unstructured.Unstructured, error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	var objects []*unstructured.Unstructured
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		object, err := decodeDocument(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
	if len(objects) == 0 {
		return nil, errors.New("expected an object, found nothing")
	}
	return objects, nil
}

// decodeDocument decodes one object, or returns nil if the document has only comments.
func decodeDocument(document []byte) (*unstructured.Unstructured, error) {
	body, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, err
	}
	var content any
	if err := json.Unmarshal(body, &content); err != nil {
		return nil, err
	}
	if content == nil {
		return nil, nil
	}
	fields, ok := content.(map[string]any)
	if !ok {
		return nil, errors.New("expected the fields of an object")
	}
	object := &unstructured.Unstructured{Object: fields}
	switch {
	case object.GetAPIVersion() == "" || object.GetKind() == "":
		return nil, errors.New("expected apiVersion and kind")
	case object.IsList():
		return nil, fmt.Errorf("expected one object per document, found a %s", object.GetKind())
	case object.GetName() == "" && object.GetGenerateName() == "":
		return nil, errors.New("expected metadata.name, or for create metadata.generateName")
	}
	return object, nil
}

// encodeManifest encodes objects as YAML documents.
func encodeManifest(objects []*unstructured.Unstructured) (string, bool) {
	var documents []string
	for _, o := range objects {
		document, err := yaml.Marshal(o.Object)
		if err != nil {
			return "", false
		}
		documents = append(documents, string(document))
	}
	return strings.Join(documents, "---\n"), true
}

// smallerObjects returns copies of an object without one of its fields or a field of a field, such
// as labels or a key of data, and copies with a long string shortened. Names and namespaces stay
// the same.
func smallerObjects(o *unstructured.Unstructured) (smaller []*unstructured.Unstructured) {
	for _, field := range slices.Sorted(maps.Keys(o.Object)) {
		if field == "apiVersion" || field == "kind" {
			continue
		}
		if field != "metadata" {
			smaller = append(smaller, removeField(o, field))
		}
		inner, ok := o.Object[field].(map[string]any)
		if !ok {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(inner)) {
			if field == "metadata" && (key == "name" || key == "generateName" || key == "namespace") {
				continue
			}
			smaller = append(smaller, removeField(o, field, key))
			if text, ok := inner[key].(string); ok && len(text) > longText {
				short := o.DeepCopy()
				if unstructured.SetNestedField(short.Object, "x", field, key) == nil {
					smaller = append(smaller, short)
				}
			}
		}
	}
	return smaller
}

// longText is the length above which a string is shortened.
const longText = 8

func removeField(o *unstructured.Unstructured, path ...string) *unstructured.Unstructured {
	o = o.DeepCopy()
	unstructured.RemoveNestedField(o.Object, path...)
	return o
}
