package managedfields

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// customPlan makes the plan of a custom resource by the schema that the library has of
// it; nil if the shortcut can do nothing with it. Its values have no Go types that would
// suit the schema by themselves, so that nothing of it is sound.
func customPlan(types managedfields.TypeConverter, empty runtime.Object) *plan {
	typed, err := types.ObjectToTyped(empty)
	if err != nil {
		return nil
	}
	c := &customCompiler{schema: typed.Schema(), done: make(map[string]*plan)}
	p := c.plan(typed.TypeRef())
	if metadata := p.find("metadata"); p.shape != structure || metadata == nil || metadata.plan.shape != structure {
		return nil
	}
	return unownTop(p)
}

// customCompiler makes plans of a schema alone.
type customCompiler struct {
	schema *schema.Schema
	done   map[string]*plan // by the names of types
}

// plan makes the plan of what ref refers to. What is not understood to the last bit is
// odd.
func (c *customCompiler) plan(ref schema.TypeRef) *plan {
	if ref.NamedType == nil || ref.ElementRelationship != nil {
		return c.make(ref)
	}
	if p := c.done[*ref.NamedType]; p != nil {
		return p
	}
	p := &plan{shape: odd}
	c.done[*ref.NamedType] = p // for a type that contains itself
	*p = *c.make(ref)
	return p
}

func (c *customCompiler) make(ref schema.TypeRef) *plan {
	atom, ok := c.schema.Resolve(ref)
	switch {
	case !ok:
	case isLoose(atom):
		return &plan{shape: loose}
	case atom.Scalar != nil && atom.Map == nil && atom.List == nil:
		return &plan{shape: leaf, scalar: *atom.Scalar}
	case atom.Map != nil && atom.Scalar == nil && atom.List == nil:
		return c.object(atom.Map)
	case atom.List != nil && atom.Scalar == nil && atom.Map == nil:
		return c.list(atom.List)
	}
	return &plan{shape: odd}
}

// isLoose reports whether an atom is what the library takes for a schema where there is
// none: anything, with lists that have one owner.
func isLoose(atom schema.Atom) bool {
	return atom.Scalar != nil && *atom.Scalar == schema.Untyped &&
		atom.List != nil && atom.List.ElementRelationship == schema.Atomic &&
		atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic && len(atom.Map.Fields) == 0
}

// object is the plan of a map: a structure, whose elem is that of the fields that the
// schema does not name, or a dictionary.
func (c *customCompiler) object(m *schema.Map) *plan {
	p := &plan{shape: structure}
	if (m.ElementType.NamedType != nil || m.ElementType.Inlined != schema.Atom{}) {
		p.elem = c.plan(m.ElementType)
	}
	for i := range m.Fields {
		p.fields = append(p.fields, planField{name: m.Fields[i].Name, plan: c.plan(m.Fields[i].Type)})
	}
	slices.SortFunc(p.fields, byName)
	if len(p.fields) == 0 && p.elem != nil {
		p.shape = dictionary
	}
	if m.ElementRelationship == schema.Atomic {
		return &plan{shape: leaf, inside: p}
	}
	return p
}

func (c *customCompiler) list(l *schema.List) *plan {
	elem := c.plan(l.ElementType)
	switch {
	case l.ElementRelationship == schema.Atomic:
		return &plan{shape: leaf, inside: &plan{shape: sequence, elem: elem}}
	case l.ElementRelationship != schema.Associative:
	case len(l.Keys) == 0 && isCustomKey(elem):
		return &plan{shape: set, elem: elem, number: elem.scalar == schema.Numeric}
	case len(l.Keys) > 0 && elem.shape == structure:
		p := &plan{shape: keyed, elem: elem}
		for _, name := range slices.Sorted(slices.Values(l.Keys)) {
			f := elem.field(name)
			if f == nil || !isCustomKey(f.plan) {
				return &plan{shape: odd}
			}
			p.keys = append(p.keys, planKey{field: f, number: f.plan.scalar == schema.Numeric, required: true})
		}
		return p
	}
	return &plan{shape: odd}
}

// isCustomKey reports whether values can tell list elements apart here.
func isCustomKey(p *plan) bool {
	return p.shape == leaf && (p.scalar == schema.String || p.scalar == schema.Numeric)
}

// withNames gives the plan of a custom resource with fields for names that its schema
// leaves to the unnamed ones, so that without finds them.
func (p *plan) withNames(paths []path) *plan {
	if p == nil || p.elem == nil {
		return p
	}
	out := *p
	out.fields = slices.Clone(p.fields)
	for _, at := range paths {
		if p.find(at[0]) == nil {
			out.fields = append(out.fields, planField{name: at[0], plan: p.elem})
		}
	}
	slices.SortFunc(out.fields, byName)
	return &out
}

func byName(a, b planField) int { return strings.Compare(a.name, b.name) }
