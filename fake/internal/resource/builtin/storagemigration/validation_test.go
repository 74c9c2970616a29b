package storagemigration

import (
	"testing"

	"github.com/stretchr/testify/require"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateMigration(t *testing.T) {
	of := func(group, resource string) *migration {
		return &migration{Spec: storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: group, Resource: resource}}}
	}
	const badLabel = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character ` +
		`(e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`
	for name, c := range map[string]struct {
		m    *migration
		want []string
	}{
		"core":         {of("", "pods"), nil},
		"group":        {of("apps", "deployments"), nil},
		"no resource":  {of("apps", ""), []string{"spec.resource.resource: Required value: resource is required to be set"}},
		"bad resource": {of("apps", "."), []string{`spec.resource.resource: Invalid value: ".": ` + badLabel}},
		"subresource":  {of("apps", "deployments/scale"), []string{`spec.resource.resource: Invalid value: "deployments/scale": ` + badLabel}},
		"bad group":    {of("-", "deployments"), []string{`spec.resource.group: Invalid value: "-": ` + validatetest.BadSubdomain}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, validatetest.Texts(validateMigration(c.m)))
		})
	}

	old := of("apps", "deployments")
	require.Empty(t, validateMigrationUpdate(old, old))
	require.Equal(t, []string{`spec: Invalid value: {"Resource":{"group":"","resource":"pods"}}: field is immutable`},
		validatetest.Texts(validateMigrationUpdate(of("", "pods"), old)))
	require.Len(t, validateMigrationUpdate(of("apps", ""), old), 2)
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
		"none":          {with(""), with(""), []string{`status.resourceVersion: Invalid value: "": resource version is not well formed: `}},
		"no number":     {with("x"), with(""), []string{`status.resourceVersion: Invalid value: "x": resource version is not well formed: x`}},
		"negative":      {with("-1"), with(""), []string{`status.resourceVersion: Invalid value: "-1": resource version is not well formed: -1`}},
		"condition":     {with("12", ""), with(""), []string{"status.conditions[0].type: Required value: is required"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, validatetest.Texts(validateMigrationStatusUpdate(c.m, c.old)))
		})
	}
	for name, c := range map[string]struct {
		m, old *migration
		want   []string
	}{
		"both":     {with("1", "Succeeded", "Failed"), with(""), []string{"Both success and failed conditions cannot be true at the same time"}},
		"success":  {with("1", "Running", "Succeeded"), with(""), []string{"Running condition cannot be true when success condition is true"}},
		"failure":  {with("1", "Running", "Failed"), with(""), []string{"Running condition cannot be true when failed condition is true"}},
		"restart":  {with("1", "Running"), with("1", "Succeeded", "Failed"), []string{success, failure}},
		"changing": {with("1", "Failed"), with("1", "Succeeded"), []string{success}},
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
