package builtintypes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"

	"sigs.k8s.io/yaml"
)

// object is a decoded JSON object. Its numbers are json.Number.
type object = map[string]any

// testCase is a case of testdata, see the package comment.
type testCase struct {
	Name   string   `json:"name"`
	Source string   `json:"source"`
	Needs  []string `json:"needs"`
	Note   string   `json:"note"`
	Setup  []object `json:"setup"`
	Create object   `json:"create"`
	expectation
	Steps []step `json:"steps"`
}

// step is a request after the first create.
type step struct {
	Create      object `json:"create"`
	Update      object `json:"update"`
	Patch       object `json:"patch"`
	PatchStatus object `json:"patchStatus"`
	Sub         string `json:"sub"`
	Delete      bool   `json:"delete"`
	Read        string `json:"read"`
	Note        string `json:"note"`
	expectation
}

// expectation is what a response and the stored object must have.
type expectation struct {
	Code   int     `json:"code"`
	Reason string  `json:"reason"`
	Causes []cause `json:"causes"`
	Stored object  `json:"stored"`
	Exact  bool    `json:"exact"`
	Absent []any   `json:"absent"`
}

// cause is one of the details.causes of a Status.
type cause struct {
	Field           string `json:"field"`
	Reason          string `json:"reason"`
	Message         string `json:"message"`
	MessageContains string `json:"messageContains"`
}

// loadCases returns the cases of the YAML files of a directory, in the order of the file names.
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
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&cases)
	return cases, err
}
