package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// builtinRule is a rule about a built-in type, as in defaults.yaml and validation.yaml.
type builtinRule struct {
	Rule   string
	Level  string
	Type   string // GROUP/VERSION/KIND, or v1/KIND
	Why    string
	Source string
	Cases  []builtinCase
}

// builtinCase is a case of a builtinRule: an object, and what a create of it is answered, or a
// patch after the create.
type builtinCase struct {
	Case, Title string
	Object      object
	Patch       object     // a merge patch of the object
	Want        any        // fields of the object in the response
	Absent      []string   // paths that the object in the response does not have
	Causes      [][]string // of the refusal: field, reason without FieldValue, and part of the message
}

// parseBuiltinRules returns the cases of a file. It panics if the file, which is part of the
// package, is wrong.
func parseBuiltinRules(file []byte) []Case {
	var rules struct {
		Common any // for anchors
		Rules  []builtinRule
	}
	text, err := yaml.ToJSON(file)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&rules); err != nil {
		panic(err)
	}
	levels := map[string]Level{Must.String(): Must, Should.String(): Should, May.String(): May}
	var all []Case
	for _, rule := range rules.Rules {
		at := strings.LastIndex(rule.Type, "/")
		groupVersion, kind := rule.Type[:at], rule.Type[at+1:]
		for _, one := range rule.Cases {
			all = append(all, Case{
				ID: rule.Rule + "/" + one.Case, Level: levels[rule.Level], Title: kind + ": " + one.Title, Why: rule.Why, Source: rule.Source,
				check: func(ctx context.Context, s *session) error { return one.check(ctx, s, groupVersion, kind) },
			})
		}
	}
	return all
}

// check checks the response to the create, or to the patch. The last request is a dry run, so that
// no controller acts on the object.
func (b builtinCase) check(ctx context.Context, s *session, groupVersion, kind string) error {
	c, err := s.builtinCollection(ctx, groupVersion, kind)
	if err != nil {
		return err
	}
	o, name := b.newObject(c)
	if b.Patch == nil {
		_, err := s.doAfterServiceAccount(ctx, post(c.path(), o).withQuery("dryRun=All"), b.expectation(c, name, http.StatusCreated))
		return err
	}
	if _, err := c.createWithRetry(ctx, o); err != nil {
		return err
	}
	return s.expect(ctx, mergePatch(c.item(name), b.Patch).withQuery("dryRun=All"), b.expectation(c, name, http.StatusOK))
}

// newObject returns the body of the create and the name in it. The default name contains the run if
// the object has no namespace.
func (b builtinCase) newObject(c collection) (o object, name string) {
	name = "a"
	if c.namespace == "" {
		name = "conformance-" + c.s.run.id
	}
	o = c.object(name)
	for field, value := range b.Object {
		if field != "metadata" {
			o[field] = value
		}
	}
	given, _ := b.Object["metadata"].(map[string]any)
	for field, value := range given {
		o.withMeta(field, value)
	}
	name, _ = o["metadata"].(object)["name"].(string)
	return o, name
}

// expectation expects the causes of a refusal, or the code of a success, the fields in Want and
// those in Absent.
func (b builtinCase) expectation(c collection, name string, success int) expectation {
	if b.Causes == nil {
		return func(r *response) error {
			checks := []expectation{code(success)}
			if b.Want != nil {
				checks = append(checks, contains(b.Want))
			}
			for _, path := range b.Absent {
				checks = append(checks, valueAt(nil, strings.Split(path, ".")...))
			}
			for _, check := range checks {
				if err := check(r); err != nil {
					return err
				}
			}
			return nil
		}
	}
	var causes []metav1.StatusCause
	for _, cause := range b.Causes {
		text := ""
		if len(cause) > 2 {
			text = cause[2]
		}
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseType("FieldValue" + cause[1]), Field: cause[0], Message: text})
	}
	return c.invalidField(name, causes...).check
}

// builtinCollection returns the objects of a type, in a new namespace if they have one. It skips
// the case if the server does not serve the type.
func (s *session) builtinCollection(ctx context.Context, groupVersion, kind string) (collection, error) {
	found, err := s.findResource(withSetup(ctx), groupVersion, func(r metav1.APIResource) bool {
		return r.Kind == kind && !strings.Contains(r.Name, "/")
	})
	if err != nil {
		return collection{}, err
	}
	if found == nil {
		return collection{}, s.skipf("the server does not serve %s of %s", kind, groupVersion)
	}
	group, _, named := strings.Cut(groupVersion, "/")
	c := collection{s: s, root: "/apis/" + groupVersion, apiVersion: groupVersion, group: group, kind: kind, resource: found.Name}
	if !named {
		c.root, c.group = "/api/"+groupVersion, ""
	}
	if !found.Namespaced {
		return c, nil
	}
	return s.newCollection(ctx, c, nil)
}

// contains expects an object with at least the fields of want: maps may have other keys, lists are
// compared as a whole.
func contains(want any) expectation {
	return func(r *response) error {
		var got any
		if err := r.decode(&got); err != nil {
			return err
		}
		return matchFields(want, got, "")
	}
}

// matchFields compares decoded JSON at a path as contains does.
func matchFields(want, got any, path string) error {
	switch want := want.(type) {
	case map[string]any:
		fields, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("expected %s to be an object, got %v", path, got)
		}
		for key, value := range sortedByKey(want) {
			if err := matchFields(value, fields[key], path+"."+key); err != nil {
				return err
			}
		}
		return nil
	case []any:
		items, ok := got.([]any)
		if !ok || len(items) != len(want) {
			return fmt.Errorf("expected %s to have %d items, got %v", path, len(want), got)
		}
		for i, item := range want {
			if err := matchFields(item, items[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("expected %s to be %v, got %v", path, want, got)
	}
	return nil
}
