package differential

import (
	"context"
	"errors"
	"slices"
	"strings"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

// maxAttempts is the maximum number of runs to shrink one sequence, and maxInstalls that of
// definitions, each of which takes seconds on a server that waits for its other instances.
const (
	maxAttempts = 300
	maxInstalls = 12
)

// shrinker looks for the smallest sequence with a difference of the same class.
type shrinker struct {
	ctx       context.Context
	on        *installation
	signature string
	steps     []Step
	last      httpdiff.Differences // of the last successful attempt
	attempts  int
	err       error
}

// shrink shrinks a sequence with a new class, and stores the result as its example.
func (r *runner) shrink(ctx context.Context, on *installation, steps []Step, found finding) error {
	s := &shrinker{ctx: ctx, on: on, signature: found.signature, steps: steps, last: found.differences}
	if !steps[found.step].Watch {
		s.try(slices.Clone(steps[:found.step+1]))
	}
	for size := -1; size != len(jsonText(s.steps)); { // until nothing can be removed
		size = len(jsonText(s.steps))
		s.removeSteps()
		s.simplifySteps()
	}
	d := on.definition
	if s.err == nil && usesDefinition(s.steps) {
		d = s.shrinkDefinition(d)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.classes[found.signature].Example = example(d, s.steps, s.last)
	return s.err
}

// usesDefinition reports whether a step is a request for a custom resource, or for the definition.
func usesDefinition(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.resource() == "widgets" || s.isOfDefinition() })
}

// try runs steps and keeps them if they have the difference.
func (s *shrinker) try(steps []Step) bool {
	if s.err != nil || s.attempts >= maxAttempts || len(steps) == 0 {
		return false
	}
	s.attempts++
	r, err := s.on.run(s.ctx, steps)
	if err != nil {
		s.err = err
		return false
	}
	for _, found := range r.found {
		if found.signature == s.signature {
			s.steps, s.last = steps, found.differences
			return true
		}
	}
	return false
}

// removeSteps removes steps: first halves, then smaller parts, then single ones.
func (s *shrinker) removeSteps() {
	for size := len(s.steps) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(s.steps); {
			if !s.try(slices.Delete(slices.Clone(s.steps), at, at+size)) {
				at += size
			}
		}
	}
}

// simplifySteps simplifies each step.
func (s *shrinker) simplifySteps() {
	for i := range s.steps {
		s.change(i, func(one *Step) { one.Query = nil })
		for n := len(s.steps[i].Query) - 1; n >= 0; n-- {
			s.change(i, func(one *Step) { one.Query = slices.Delete(slices.Clone(one.Query), n, n+1) })
		}
		s.change(i, func(one *Step) { one.Accept = "" })
		if s.steps[i].ContentType == "application/yaml" || s.steps[i].ContentType == "" && s.steps[i].Body != "" {
			s.change(i, func(one *Step) { one.ContentType = "application/json" })
		}
		if s.steps[i].Resend != "" {
			s.change(i, func(one *Step) { one.Body = "" })
		}
		if body, err := parse(s.steps[i].Body); err == nil {
			simplify(body, func(smaller any) bool {
				return s.change(i, func(one *Step) { one.Body = jsonText(smaller) })
			})
		}
	}
}

// change tries one step with a change. That of a definition remains a dry run.
func (s *shrinker) change(i int, change func(*Step)) bool {
	steps := slices.Clone(s.steps)
	change(&steps[i])
	if steps[i].isOfDefinition() && !slices.Contains(steps[i].Query, dryRun) {
		steps[i].Query = append(steps[i].Query, dryRun)
	}
	if jsonText(steps[i]) == jsonText(s.steps[i]) {
		return false
	}
	return s.try(steps)
}

// simplify removes fields and items of a value as long as try accepts the result.
func simplify(v any, try func(any) bool) {
	root := v
	var visit func(v any, set func(any))
	visit = func(v any, set func(any)) {
		switch v := v.(type) {
		case object:
			for _, key := range sortedKeys(v) {
				value := v[key]
				delete(v, key)
				if !try(root) {
					v[key] = value
					visit(value, func(smaller any) { v[key] = smaller })
				}
			}
		case []any:
			for i := len(v) - 1; i >= 0; i-- {
				smaller := slices.Delete(slices.Clone(v), i, i+1)
				set(smaller)
				if try(root) {
					v = smaller
					continue
				}
				set(v)
				visit(v[i], func(smaller any) { v[i] = smaller })
			}
		}
	}
	visit(root, func(smaller any) { root = smaller })
}

// shrinkDefinition tries definitions without the properties that no step mentions, and then
// without other parts. It returns the last one with which the sequence has the difference.
func (s *shrinker) shrinkDefinition(d *definition) *definition {
	installs := 0
	text := jsonText(s.steps)
	smallest := parseObject(d.body)
	try := func(v any) bool {
		if installs >= maxInstalls || s.err != nil {
			return false
		}
		installs++
		body := jsonText(v)
		on, err := s.on.runner.install(s.ctx, d.withBody(body))
		if on == nil {
			s.err = asServerError(err)
			return false
		}
		before := s.on
		s.on, s.attempts = on, 0
		ok := s.try(s.steps)
		s.on = before
		on.remove(s.ctx)
		if ok {
			d = d.withBody(body)
		}
		return ok
	}
	pruned := parseObject(d.body)
	for _, version := range pruned["spec"].(object)["versions"].([]any) {
		prune(version.(object)["schema"], text)
	}
	if try(pruned) {
		smallest = pruned
	}
	for _, version := range smallest["spec"].(object)["versions"].([]any) {
		simplifyVersion(version.(object), func() bool { return try(smallest) })
	}
	return d
}

// shrinkCreation returns the smallest definition whose creation has a difference of the same class.
func (r *runner) shrinkCreation(ctx context.Context, d *definition, different *definitionError) *definitionError {
	attempts := 0
	simplify(parseObject(d.body), func(smaller any) bool {
		if attempts++; attempts > maxAttempts {
			return false
		}
		on, err := r.install(ctx, &definition{body: jsonText(smaller)})
		if on != nil {
			on.remove(ctx)
		}
		if again, ok := errors.AsType[*definitionError](err); ok && again.Error() == different.Error() {
			different = again
			return true
		}
		return false
	})
	return different
}

// asServerError returns err unless it is that of a definition.
func asServerError(err error) error {
	if _, ok := errors.AsType[*definitionError](err); ok {
		return nil
	}
	return err
}

// prune removes the properties that text does not mention, at any depth.
func prune(v any, text string) {
	switch v := v.(type) {
	case object:
		if properties, ok := v["properties"].(object); ok {
			for name := range properties {
				if !strings.Contains(text, `"`+name) && !strings.Contains(text, "/"+name) && name != "spec" && name != "status" && name != "replicas" && name != "selector" {
					delete(properties, name)
					delete(v, "required")
				}
			}
		}
		for _, value := range v {
			prune(value, text)
		}
	case []any:
		for _, value := range v {
			prune(value, text)
		}
	}
}

// simplifyVersion removes parts of a version of a definition as long as try accepts the result.
func simplifyVersion(version object, try func() bool) {
	for _, key := range []string{"additionalPrinterColumns", "subresources"} {
		if value, ok := version[key]; ok {
			delete(version, key)
			if !try() {
				version[key] = value
			}
		}
	}
}
