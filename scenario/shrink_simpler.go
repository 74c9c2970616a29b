package scenario

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// How steps get simpler.

func (s advance) simplifications() []Step {
	return shorter(s.d, func(d time.Duration) Step { return advance{d} })
}

// shorter makes steps of times that are shorter, and not 0.
func shorter(than time.Duration, step func(time.Duration) Step) (steps []Step) {
	for _, d := range []time.Duration{time.Second, (than / 2).Truncate(time.Second)} {
		if d > 0 && d < than {
			steps = append(steps, step(d))
		}
	}
	return steps
}

// inside makes steps of what the step in one is when it is simpler.
func inside(s Step, around func(Step) Step) (steps []Step) {
	inner, ok := s.(simplifier)
	if !ok {
		return nil
	}
	for _, step := range inner.simplifications() {
		steps = append(steps, around(step))
	}
	return steps
}

// An Eventually keeps its time: a correct client may need it. So does an Always, whose
// end is where the next step begins.
func (s eventually) simplifications() []Step {
	return inside(s.step, func(step Step) Step { return eventually{s.d, step} })
}

func (s always) simplifications() []Step {
	return inside(s.step, func(step Step) Step { return always{s.d, step} })
}

func (s onServer) simplifications() []Step {
	return inside(s.step, func(step Step) Step { return onServer{s.name, step} })
}

func (s notReady) simplifications() []Step {
	return shorter(s.d, func(d time.Duration) Step { return notReady{d} })
}

func (s restart) simplifications() []Step {
	if s.startup == 0 {
		return nil
	}
	return append([]Step{restart{}}, shorter(s.startup, func(d time.Duration) Step { return restart{d} })...)
}

func (s discoveryStep) simplifications() (steps []Step) {
	for i := range s.groups {
		if len(s.groups) > 1 { // heal without any is for all
			steps = append(steps, discoveryStep{s.action, slices.Concat(s.groups[:i], s.groups[i+1:])})
		}
	}
	return steps
}

func (s expect) simplifications() []Step {
	var steps []Step
	for i := range s.fields {
		steps = append(steps, Expect(s.ref, slices.Concat(s.fields[:i], s.fields[i+1:])...))
	}
	return steps
}

func (s fault) simplifications() []Step {
	var steps []Step
	for _, rule := range s.rule.Simplifications() {
		steps = append(steps, fault{rule})
	}
	return steps
}

func (s apply) simplifications() []Step {
	return s.smallerManifests(func(less manifestFile) Step { return apply{less} })
}

func (s create) simplifications() []Step {
	return s.smallerManifests(func(less manifestFile) Step { return create{less} })
}

func (s updateStep) simplifications() []Step {
	return s.smallerManifests(func(less manifestFile) Step { return updateStep{less, s.subresource} })
}

func (s serverSideApply) simplifications() []Step {
	return s.smallerManifests(func(less manifestFile) Step { return serverSideApply{less, s.manager, s.force} })
}

// smallerManifests makes steps of fewer objects, and of smaller ones.
func (s manifestFile) smallerManifests(step func(manifestFile) Step) (steps []Step) {
	objects, err := decodeManifest(s.manifest)
	if err != nil {
		return nil
	}
	add := func(objects []*unstructured.Unstructured) {
		if text, ok := manifestOf(objects); ok && text != s.manifest {
			steps = append(steps, step(newManifestFile(s.name, text)))
		}
	}
	for i, o := range objects {
		if len(objects) > 1 {
			add(slices.Concat(objects[:i], objects[i+1:]))
		}
		for _, less := range smallerObjects(o) {
			changed := slices.Clone(objects)
			changed[i] = less
			add(changed)
		}
	}
	return steps
}

// A patch gets along with fewer fields; a list of operations stays as it is.
func (s patch) simplifications() (steps []Step) {
	var fields map[string]any
	if json.Unmarshal([]byte(s.body), &fields) != nil {
		return nil
	}
	for _, less := range smallerObjects(&unstructured.Unstructured{Object: fields}) {
		if len(less.Object) > 0 {
			steps = append(steps, PatchSubresource(s.ref, s.subresource, s.patchType, formatValue(less.Object)))
		}
	}
	return steps
}

// manifestOf is the text of objects.
func manifestOf(objects []*unstructured.Unstructured) (string, bool) {
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

// smallerObjects leave out a field, or a field of a field: labels, one key of
// data. What an object is called stays. Texts that are long get short.
func smallerObjects(o *unstructured.Unstructured) (smaller []*unstructured.Unstructured) {
	for _, field := range slices.Sorted(maps.Keys(o.Object)) {
		if field == "apiVersion" || field == "kind" {
			continue
		}
		if field != "metadata" {
			smaller = append(smaller, without(o, field))
		}
		inner, ok := o.Object[field].(map[string]any)
		if !ok {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(inner)) {
			if field == "metadata" && (key == "name" || key == "generateName" || key == "namespace") {
				continue
			}
			smaller = append(smaller, without(o, field, key))
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

// longText is what is worth to be made shorter.
const longText = 8

func without(o *unstructured.Unstructured, path ...string) *unstructured.Unstructured {
	o = o.DeepCopy()
	unstructured.RemoveNestedField(o.Object, path...)
	return o
}
