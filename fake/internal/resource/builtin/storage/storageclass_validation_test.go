package storage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateStorageClass(t *testing.T) {
	for text, want := range map[string][]string{
		`provisioner: kubernetes.io/No-Provisioner`: nil,
		`{}`:                   nil, // the tags of the type require the provisioner
		`provisioner: a_/B`:    {`provisioner: Invalid value: "a_/b": prefix part ` + validatetest.BadSubdomain},
		`reclaimPolicy: ""`:    nil,
		`parameters: {"": a}`:  {`parameters: Invalid value: "": field can not be empty.`},
		`reclaimPolicy: Other`: {`reclaimPolicy: Unsupported value: "Other": supported values: "Delete", "Retain"`},
		`volumeBindingMode: Other`: {
			`volumeBindingMode: Unsupported value: "Other": supported values: "Immediate", "WaitForFirstConsumer"`},
		`allowedTopologies: [{matchLabelExpressions: [{key: a, values: [b, c]}, {key: b, values: [c]}]}, {matchLabelExpressions: [{key: a, values: [b]}, {key: b, values: [c]}]}]`: nil,
		`allowedTopologies: [{matchLabelExpressions: [{key: a, values: []}, {key: a, values: [b, c, b]}]}]`: {
			"allowedTopologies[0].matchLabelExpressions[0].values: Required value",
			`allowedTopologies[0].matchLabelExpressions[1].values[2]: Duplicate value: "b"`,
			`allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "a"`,
		},
		`allowedTopologies: [{matchLabelExpressions: [{key: a:, values: [b]}]}]`: {
			`allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "a:": ` + malformedQualifiedName},
		`allowedTopologies: [{matchLabelExpressions: [{key: a, values: [b, c]}, {key: d, values: [e]}]}, {matchLabelExpressions: [{key: d, values: [e]}, {key: a, values: [c, b]}]}]`: {
			`allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`},
		`allowedTopologies: [{}, {matchLabelExpressions: []}]`: {
			`allowedTopologies[0].matchLabelExpressions: Duplicate value: ""`, `allowedTopologies[0].matchLabelExpressions: Duplicate value: ""`,
			`allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`, `allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`,
			`allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`,
		},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, validatetest.Texts(validateStorageClassUpdate(validatetest.Parse[storagev1.StorageClass](t, text), nil)))
		})
	}
	require.Equal(t, []string{"parameters: Too long: may not be more than 512 bytes"}, validatetest.Texts(validateStorageClass(&storagev1.StorageClass{Parameters: manyParameters(513)})))
	require.Empty(t, validateStorageClass(&storagev1.StorageClass{Parameters: manyParameters(512)}))
	require.Empty(t, validateStorageClass(&storagev1.StorageClass{Parameters: map[string]string{"a": strings.Repeat("b", 256<<10-1)}}))
	require.Equal(t, []string{"parameters: Too long: may not be more than 262144 bytes"},
		validatetest.Texts(validateStorageClass(&storagev1.StorageClass{Parameters: map[string]string{"a": strings.Repeat("b", 256<<10)}})))

	terms := make([]corev1.TopologySelectorTerm, 10_000)
	require.Len(t, validateStorageClass(&storagev1.StorageClass{AllowedTopologies: terms}), len(terms)*maxDuplicates)
}

// manyParameters returns n parameters.
func manyParameters(n int) map[string]string {
	parameters := make(map[string]string, n)
	for i := range n {
		parameters[strings.Repeat("a", i+1)] = ""
	}
	return parameters
}
