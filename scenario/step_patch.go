package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Patch patches an object, which must exist. The body is JSON, or YAML in one line. Supported types
// are merge, strategic and JSON patches; the body of a JSON patch is a list. Unknown fields are an
// error.
func Patch(ref Ref, as types.PatchType, body string) Step {
	return PatchSubresource(ref, "", as, body)
}

// PatchSubresource is [Patch] for a subresource, such as "status" or "scale".
func PatchSubresource(ref Ref, subresource string, as types.PatchType, body string) Step {
	s := patch{ref: ref, subresource: subresource, patchType: as, body: body}
	if one, err := canonicalJSON(body); err == nil {
		s.body = one
	}
	return s
}

type patch struct {
	ref         Ref
	subresource string
	patchType   types.PatchType
	body        string // JSON on one line
}

// patchTypes are the values of --type. The default is a merge patch.
var patchTypes = map[string]types.PatchType{
	"": types.MergePatchType, "merge": types.MergePatchType, "json": types.JSONPatchType, "strategic": types.StrategicMergePatchType,
}

func (kinds) Patch() stepKind {
	return stepKind{"patch KIND/NAME [-n NAMESPACE] [--type merge|json|strategic] [--subresource NAME] PATCH", parsePatch}
}

func parsePatch(a *args) (Step, error) {
	body, err := a.cutPatch()
	if err != nil {
		return nil, err
	}
	words, given, err := a.wordsAndFlags("-n=", "--type=", subresourceFlag+"=")
	if err != nil {
		return nil, err
	}
	refs, err := unquoteWords(words, 1, 1)
	if err != nil {
		return nil, err
	}
	ref, err := parseRef(refs[0], given["-n"])
	if err != nil {
		return nil, err
	}
	as, ok := patchTypes[given["--type"]]
	if !ok {
		return nil, fmt.Errorf("expected merge, json or strategic after --type, found %q", given["--type"])
	}
	one, err := canonicalJSON(body)
	if err != nil {
		return nil, fmt.Errorf("expected a patch in JSON or YAML, found %s: %w", body, err)
	}
	if isList := one[0] == '['; isList != (as == types.JSONPatchType) {
		return nil, errors.New("expected a list of operations for --type json, and else the fields of an object")
	}
	return patch{ref, given[subresourceFlag], as, one}, nil
}

// cutPatch cuts off the rest of the line from the first word that begins with a bracket.
func (a *args) cutPatch() (string, error) {
	rest := a.rest
	for {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
			a.rest = a.rest[:len(a.rest)-len(rest)]
			return strings.TrimSpace(rest), nil
		}
		w, behind, err := cutWord(rest)
		if err != nil {
			return "", err
		}
		if w == "" {
			return "", errors.New("expected KIND/NAME and then a patch that begins with { or [, found the end of the line")
		}
		rest = behind
	}
}

// canonicalJSON converts JSON or YAML to JSON in one line. Equivalent texts have the same result.
func canonicalJSON(text string) (string, error) {
	// Inside of brackets YAML has only syntax that fits in a line.
	body := []byte(`{"patch": ` + text + "\n}")
	if !json.Valid(body) {
		var err error
		if body, err = yaml.YAMLToJSONStrict(body); err != nil {
			return "", err
		}
	}
	var all map[string]any
	strict, err := kjson.UnmarshalStrict(body, &all)
	if err = errors.Join(append(strict, err)...); err != nil {
		return "", err
	}
	switch all["patch"].(type) {
	case map[string]any, []any:
		if len(all) == 1 {
			return formatValue(all["patch"]), nil
		}
	}
	return "", errors.New("the patch must end at the closing bracket")
}

func (s patch) String() string {
	as := ""
	if s.patchType != types.MergePatchType {
		as = "--type " + quote(s.typeName())
	}
	return joinWords("patch", s.ref.String(), as, subresourceText(s.subresource), s.body)
}

// typeName returns the value of --type, or an unsupported type itself.
func (s patch) typeName() string {
	for name, as := range patchTypes {
		if as == s.patchType && name != "" {
			return name
		}
	}
	return string(s.patchType)
}

func (s patch) Run(ctx context.Context, e *Env) error {
	ctx, cancel := e.withRequestTimeout(ctx)
	defer cancel()
	resource, err := e.resource(s.ref.Kind, s.ref.Namespace)
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}
	_, err = resource.Patch(ctx, s.ref.Name, s.patchType, []byte(s.body), options, subresources(s.subresource)...)
	return requestError(ctx, err)
}

// A patch gets fewer fields. A list of operations stays the same.
func (s patch) simplifications() (steps []Step) {
	var fields map[string]any
	if kjson.UnmarshalCaseSensitivePreserveInts([]byte(s.body), &fields) != nil {
		return nil
	}
	for _, less := range smallerObjects(&unstructured.Unstructured{Object: fields}) {
		if len(less.Object) > 0 {
			steps = append(steps, PatchSubresource(s.ref, s.subresource, s.patchType, formatValue(less.Object)))
		}
	}
	return steps
}
