package scenario

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// How steps get simpler.

func (s advance) simpler() []Step {
	var steps []Step
	for _, d := range []time.Duration{time.Second, (s.d / 2).Truncate(time.Second)} {
		if d > 0 && d < s.d {
			steps = append(steps, advance{d})
		}
	}
	return steps
}

// An Eventually keeps its time: a correct client may need it.
func (s eventually) simpler() []Step {
	inner, ok := s.step.(simpler)
	if !ok {
		return nil
	}
	var steps []Step
	for _, step := range inner.simpler() {
		steps = append(steps, eventually{s.d, step})
	}
	return steps
}

func (s on) simpler() []Step {
	inner, ok := s.step.(simpler)
	if !ok {
		return nil
	}
	var steps []Step
	for _, step := range inner.simpler() {
		steps = append(steps, on{s.name, step})
	}
	return steps
}

func (s expect) simpler() []Step {
	var steps []Step
	for i := range s.fields {
		steps = append(steps, Expect(s.ref, slices.Concat(s.fields[:i], s.fields[i+1:])...))
	}
	return steps
}

func (s fault) simpler() []Step {
	var steps []Step
	for _, rule := range s.rule.Simpler() {
		steps = append(steps, fault{rule})
	}
	return steps
}

// An apply gets along with fewer objects, and with smaller ones.
func (s apply) simpler() []Step {
	objects, err := decodeManifest(s.manifest)
	if err != nil {
		return nil
	}
	var steps []Step
	add := func(objects []*unstructured.Unstructured) {
		if text, ok := manifestOf(objects); ok && text != s.manifest {
			steps = append(steps, apply{newSource(s.name, text)})
		}
	}
	for i, o := range objects {
		if len(objects) > 1 {
			add(slices.Concat(objects[:i], objects[i+1:]))
		}
		for _, smaller := range smallerObjects(o) {
			changed := slices.Clone(objects)
			changed[i] = smaller
			add(changed)
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
			if field == "metadata" && (key == "name" || key == "namespace") {
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
