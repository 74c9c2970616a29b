package rbaccases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"sigs.k8s.io/yaml"
)

// namespace and id are the values of $ns and $id. Each case has its own server.
const (
	namespace = "case-x1y2z3"
	id        = "x1y2z3"
)

// testCase is a case of testdata, see the package comment.
type testCase struct {
	Name     string            `json:"name"`
	Source   string            `json:"source"`
	Note     string            `json:"note"`
	Needs    []string          `json:"needs"`
	Setup    []json.RawMessage `json:"setup"`
	Requests []request         `json:"requests"`
}

// request is a request of a case, and what its response must have.
type request struct {
	As   *identity       `json:"as"` // nil for the administrator
	Do   string          `json:"do"` // the method and the path
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`

	Code    int              `json:"code"`
	Reason  string           `json:"reason"`
	Message string           `json:"message"`
	Details map[string]any   `json:"details"`
	Answer  map[string]any   `json:"answer"`
	Has     map[string][]any `json:"has"`
	HasNot  map[string][]any `json:"hasNot"`
	Absent  []string         `json:"absent"`
	Until   bool             `json:"until"`
}

// identity is the user that the administrator impersonates. If Token is set, the ServiceAccount of
// that name sends the request, with a token.
type identity struct {
	User   string              `json:"user"`
	UID    string              `json:"uid"`
	Groups []string            `json:"groups"`
	Extra  map[string][]string `json:"extra"`
	Token  string              `json:"token"`
}

// contentTypes are the media types of patches.
func contentTypes() map[string]string {
	return map[string]string{
		"": "application/merge-patch+json", "merge": "application/merge-patch+json", "json": "application/json-patch+json",
		"strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml",
	}
}

// loadCases returns the cases of the YAML files of a directory, in the order of the file names. $ns
// and $id are replaced by namespace and id.
func loadCases(dir fs.FS) (all []testCase, err error) {
	names, err := fs.Glob(dir, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		cases, err := loadFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, cases...)
	}
	return all, nil
}

func loadFile(dir fs.FS, name string) (cases []testCase, err error) {
	text, err := fs.ReadFile(dir, name)
	if err != nil {
		return nil, err
	}
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	data = []byte(strings.NewReplacer("$ns", namespace, "$id", id).Replace(string(data)))
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&cases)
	return cases, err
}
