package storagemigration

import (
	"testing"

	"github.com/stretchr/testify/require"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateMigration(t *testing.T) {
	old := &migration{Spec: storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: "apps", Resource: "deployments"}}}
	require.Empty(t, validateMigrationUpdate(old, old))
	require.Equal(t, []string{
		"spec.resource.resource: Required value: resource is required",
		`group: Invalid value: "": field is immutable`,
		`resource: Invalid value: "": field is immutable`,
	}, validatetest.Texts(validateMigrationUpdate(&migration{}, old)))
}

func TestValidateMigrationStatus(t *testing.T) {
	with := func(resourceVersion string, types ...string) *migration {
		m := &migration{Status: storagemigrationv1.StorageVersionMigrationStatus{ResourceVersion: resourceVersion}}
		for _, t := range types {
			m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{Type: t, Status: "True", Reason: "R", LastTransitionTime: metav1.Now()})
		}
		return m
	}
	const success, failure = "Success condition cannot be set to false once it is true", "Failed condition cannot be set to false once it is true"
	for name, c := range map[string]struct {
		m, old *migration
		want   []string
	}{
		"start":         {with("12", "Running"), with(""), nil},
		"end":           {with("12", "Succeeded"), with("12", "Running"), nil},
		"other version": {with("13"), with("12"), []string{`status.resourceVersion: Invalid value: "13": field is immutable`}},
		"no number": {with("x"), with(""), []string{
			`status.resourceVersion: Invalid value: "x": failed to parse resource version "x": strconv.ParseInt: parsing "x": invalid syntax`,
		}},
		"negative":  {with("-1"), with(""), []string{`status.resourceVersion: Invalid value: -1: must be greater than or equal to 0`}},
		"condition": {with("", ""), with(""), []string{"status.conditions[0].type: Required value: is required"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, validatetest.Texts(validateMigrationStatusUpdate(c.m, c.old)))
		})
	}
	for name, c := range map[string]struct {
		m, old *migration
		want   []string
	}{
		"both":     {with("", "Succeeded", "Failed"), with(""), []string{"Both success and failed conditions cannot be true at the same time"}},
		"success":  {with("", "Running", "Succeeded"), with(""), []string{"Running condition cannot be true when success condition is true"}},
		"failure":  {with("", "Running", "Failed"), with(""), []string{"Running condition cannot be true when failed condition is true"}},
		"restart":  {with("", "Running"), with("", "Succeeded", "Failed"), []string{success, failure}},
		"changing": {with("", "Failed"), with("", "Succeeded"), []string{success}},
	} {
		t.Run(name, func(t *testing.T) {
			var details []string
			for _, err := range validateMigrationStatusUpdate(c.m, c.old) {
				require.Equal(t, "status.conditions", err.Field)
				details = append(details, err.Detail)
			}
			require.Equal(t, c.want, details)
		})
	}
}
