package table

import (
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// apiextensionsPrinters returns the printer of CustomResourceDefinitions, whose columns are those
// of apiextensions-apiserver.
func apiextensionsPrinters() []entry {
	definitions := newEntry(apiextensionsv1.SchemeGroupVersion, definitionCells,
		named(),
		text("Scope", "Cluster/Namespaced"),
		text("Versions", "Served versions"),
		created(),
		wide(text("Group", "API group")),
		wide(text("Kind", "CustomResource kind")),
		wide(text("ShortNames", "Short names")),
		wide(flag("Established", "Established status")),
	)
	definitions.printer.emptyIsNull = true
	return []entry{definitions}
}

func definitionCells(d *apiextensionsv1.CustomResourceDefinition) []any {
	return []any{
		d.Name, string(d.Spec.Scope), servedVersions(d), createdAt(&d.ObjectMeta),
		d.Spec.Group, d.Spec.Names.Kind, strings.Join(d.Spec.Names.ShortNames, ","),
		apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established),
	}
}

// servedVersions returns the served versions of a definition in alphabetical order, with a mark at
// the one that is stored.
func servedVersions(d *apiextensionsv1.CustomResourceDefinition) string {
	var versions []string
	for _, v := range d.Spec.Versions {
		switch {
		case v.Served && v.Storage:
			versions = append(versions, v.Name+"(storage)")
		case v.Served:
			versions = append(versions, v.Name)
		}
	}
	slices.Sort(versions)
	return strings.Join(versions, ",")
}
