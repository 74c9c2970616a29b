package openapi

import (
	"testing"

	"github.com/stretchr/testify/require"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

func TestResolveSchema(t *testing.T) {
	widgets := schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Widget"}
	builtinOnly := New(builtin.Table())
	d := builtinOnly.WithCustomResources([]*CustomResource{{
		Group: widgets.Group, Version: widgets.Version, Plural: "widgets", Kind: widgets.Kind, ListKind: "WidgetList",
		Schema: &structuralschema.Structural{
			Generic:    structuralschema.Generic{Type: "object"},
			Properties: map[string]structuralschema.Structural{"size": {Generic: structuralschema.Generic{Type: "integer"}}},
		},
	}})

	widget, err := d.ResolveSchema(widgets)
	require.NoError(t, err)
	require.Equal(t, "integer", widget.Properties["size"].Type[0])
	require.Equal(t, "string", widget.Properties["metadata"].Properties["name"].Type[0])

	pod, err := d.ResolveSchema(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	require.NoError(t, err)
	require.Equal(t, "string", pod.Properties["spec"].Properties["containers"].Items.Schema.Properties["image"].Type[0])

	crd, err := d.ResolveSchema(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	require.NoError(t, err)
	props := crd.Properties["spec"].Properties["versions"].Items.Schema.Properties["schema"].Properties["openAPIV3Schema"]
	require.NotEmpty(t, props.Properties["type"])
	require.Equal(t, []string{"object"}, []string(props.Properties["not"].Type), "it is recursive")
	require.Empty(t, props.Properties["not"].Properties)

	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "Pods"}, {Group: "apps", Version: "v1", Kind: "Pod"}, {Group: widgets.Group, Version: "v2", Kind: widgets.Kind},
	} {
		_, err = d.ResolveSchema(kind)
		require.ErrorIs(t, err, resolver.ErrSchemaNotFound, kind)
	}
	_, err = builtinOnly.ResolveSchema(widgets)
	require.ErrorIs(t, err, resolver.ErrSchemaNotFound)
}
