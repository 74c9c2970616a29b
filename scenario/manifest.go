package scenario

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// decodeManifest reads the objects of a manifest: YAML or JSON documents, at
// least one, each an object with a name.
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

// decodeDocument reads one object; nil if there is nothing but remarks.
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
		return nil, fmt.Errorf("expected one object a document, found a %s", object.GetKind())
	case object.GetName() == "" && object.GetGenerateName() == "":
		return nil, errors.New("expected metadata.name, or for create metadata.generateName")
	}
	return object, nil
}
