package conversion_test

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fakeapi/fake/internal/crd/conversion"
	"example.com/fakeapi/fake/internal/webhookclient"
)

func Example() {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "widgets.example.com"
	crd.Spec.Group = "example.com"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1"}, {Name: "v2"}}

	converter, err := conversion.New(crd, webhookclient.Network{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer converter.Close()

	stored := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"},
	}}
	converted, err := converter.Convert(context.Background(), []*unstructured.Unstructured{stored}, "v2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(stored.GetAPIVersion(), converted[0].GetAPIVersion())

	_, err = converter.Convert(context.Background(), converted, "v3")
	fmt.Println(err)
	// Output:
	// example.com/v1 example.com/v2
	// request to convert CR to an invalid group/version: example.com/v3
}
