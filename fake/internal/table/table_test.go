package table

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	discoveryv1beta1 "k8s.io/api/discovery/v1beta1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

// now is the time at which tests read rows. before returns a time that long ago.
var now = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func before(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// row returns the cells of an object as a client reads them.
func row(t *testing.T, obj runtime.Object) []any {
	t.Helper()
	var kinds []schema.GroupVersionKind
	switch obj.(type) {
	case *apiregistrationv1.APIService:
		kinds = append(kinds, apiregistrationv1.SchemeGroupVersion.WithKind("APIService"))
	case *apiextensionsv1.CustomResourceDefinition:
		kinds = append(kinds, apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	default:
		var err error
		kinds, _, err = scheme.Scheme.ObjectKinds(obj)
		require.NoError(t, err)
	}
	encoded, err := PrinterFor(kinds[0]).AppendRow(nil, obj)
	require.NoError(t, err)
	var read struct{ Cells []any }
	require.NoError(t, json.Unmarshal([]byte("{"+string(AppendWithAges(nil, encoded, now))+"}"), &read))
	return read.Cells
}

// unknownToPrinters has the types that a real server prints with the default printer (TB-08).
var unknownToPrinters = map[schema.GroupKind]bool{
	{Kind: "LimitRange"}: true,
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:        true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: true,
}

// untypedCells counts the cells without a column, which a real server sends, too.
var untypedCells = map[string]int{"IPAddress": 1}

// Every resource has a printer that returns a cell for each column, also for an empty object.
func TestEveryTypeIsPrinted(t *testing.T) {
	used := map[*Printer]bool{}
	for _, res := range builtin.Table().Stored() {
		kind := res.StorageVersion.WithKind(res.Kind)
		p := PrinterFor(kind)
		used[p] = true
		require.Equal(t, unknownToPrinters[kind.GroupKind()], p == plain(), "%s has a printer, or stands in unprinted", kind)
		obj, err := res.Scheme.New(kind)
		require.NoError(t, err)
		cells := row(t, obj)
		require.Len(t, cells, len(p.Columns())+untypedCells[kind.Kind], "%s", kind)
		for i, c := range p.Columns() {
			require.NotEmpty(t, c.Name, "%s", kind)
			require.Contains(t, []string{"string", "integer", "boolean", "date"}, c.Type, "%s %s", kind, c.Name)
			if cell, isText := cells[i].(string); isText && c.Name != "Suspend" { // True or False
				require.Contains(t, []string{"string", "date"}, c.Type, "%s %s is %q", kind, c.Name, cell)
			}
		}
	}
	for kind, p := range printers() {
		require.True(t, used[p] || kind.Kind == "Scale" || kind.Kind == "ComponentStatus", "%s is no row of the resource table", kind)
	}
}

// Every column has a description, but for one whose field does not exist: the handler of a
// RuntimeClass.
func TestColumnsAreDescribed(t *testing.T) {
	for kind, p := range printers() {
		for _, c := range p.Columns() {
			if kind.Kind == "RuntimeClass" && c.Name == "Handler" {
				continue
			}
			require.NotEmpty(t, c.Description, "%s of %s", c.Name, kind)
		}
	}
}

// The columns of workloads that say what their pods run.
func TestContainerColumns(t *testing.T) {
	for _, kind := range []schema.GroupKind{
		{Kind: "ReplicationController"},
		{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "ReplicaSet"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps", Kind: "DaemonSet"},
		{Group: "batch", Kind: "Job"}, {Group: "batch", Kind: "CronJob"},
	} {
		columns := PrinterFor(kind.WithVersion("v1")).Columns()
		at := slices.IndexFunc(columns, func(c metav1.TableColumnDefinition) bool { return c.Name == "Age" }) + 1
		require.Equal(t, []metav1.TableColumnDefinition{
			{Name: "Containers", Type: "string", Priority: 1, Description: "Names of each container in the template."},
			{Name: "Images", Type: "string", Priority: 1, Description: "Images referenced by each container in the template."},
		}, columns[at:at+2], "%s", kind)
	}
}

// Some descriptions are those of versions that are not served.
func TestDescriptionsOfBetaVersions(t *testing.T) {
	const rbac, certificates = "rbac.authorization.k8s.io", "certificates.k8s.io"
	const apps, discovery = "apps", "discovery.k8s.io"
	labelSelectors := " More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors"
	unresolved := ". If the RoleRef cannot be resolved, the Authorizer must return an error."
	for _, test := range []struct{ group, kind, column, want string }{
		{rbac, "RoleBinding", "Role", "roleRef can reference a Role in the current namespace or a ClusterRole in the global namespace" + unresolved},
		{rbac, "ClusterRoleBinding", "Role", "roleRef can only reference a ClusterRole in the global namespace" + unresolved},
		{certificates, "CertificateSigningRequest", "Requestor", "Base64-encoded PKCS#10 CSR data"},
		{certificates, "CertificateSigningRequest", "Condition", "Conditions applied to the request, such as approval or denial."},
		{apps, "ReplicaSet", "Selector", "Selector is a label query over pods that should match the replica count. If the selector is empty, it is defaulted to the labels present on the pod template. Label keys and values that must match in order to be controlled by this replica set." + labelSelectors},
		{apps, "DaemonSet", "Selector", "A label query over pods that are managed by the daemon set. Must match in order to be controlled. If empty, defaulted to labels on Pod template." + labelSelectors},
		{apps, "DaemonSet", "Ready", "The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and ready."},
		{apps, "Deployment", "Selector", "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment."},
		{apps, "ControllerRevision", "Revision", "revision indicates the revision of the state represented by Data."},
		{"networking.k8s.io", "NetworkPolicy", "Pod-Selector", extensionsv1beta1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"]},
		{discovery, "EndpointSlice", "AddressType", discoveryv1beta1.EndpointSlice{}.SwaggerDoc()["addressType"]},
		{discovery, "EndpointSlice", "Ports", discoveryv1beta1.EndpointSlice{}.SwaggerDoc()["ports"]},
	} {
		columns := PrinterFor(schema.GroupVersionKind{Group: test.group, Version: "v1", Kind: test.kind}).Columns()
		at := slices.IndexFunc(columns, func(c metav1.TableColumnDefinition) bool { return c.Name == test.column })
		require.Equal(t, test.want, columns[at].Description, "%s of %s", test.column, test.kind)
	}
}

// The columns with the format of a name. Those of Scales and migrations have none, and a volume
// attachment has two.
func TestNameColumns(t *testing.T) {
	for kind, p := range printers() {
		var names []string
		for _, c := range p.Columns() {
			if c.Format == "name" {
				names = append(names, c.Name)
			}
		}
		switch kind.Kind {
		case "Scale", "StorageVersionMigration":
			require.Empty(t, names, kind)
		case "VolumeAttachment":
			require.Equal(t, []string{"Name", "Attacher"}, names)
		default:
			require.Equal(t, []string{"Name"}, names, kind)
		}
	}
}

func TestColumnsOfPods(t *testing.T) {
	var names []string
	for _, c := range PrinterFor(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}).Columns() {
		name := c.Name + " " + c.Type
		if c.Priority > 0 {
			name = "(" + name + ")"
		}
		names = append(names, name)
	}
	require.Equal(t, []string{
		"Name string", "Ready string", "Status string", "Restarts string", "Age string",
		"(IP string)", "(Node string)", "(Nominated Node string)", "(Readiness Gates string)",
	}, names)
}

func TestPlain(t *testing.T) {
	role := scheme.Scheme.AllKnownTypes()[schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}]
	obj := reflect.New(role).Interface().(metav1.Object)
	obj.SetName("r")
	obj.SetCreationTimestamp(before(time.Hour))
	require.Equal(t, []any{"r", "2026-05-04T02:02:01Z"}, row(t, obj.(runtime.Object)))
}

// An empty list of some types has null for rows.
func TestEmptyIsNull(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]bool{
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}: true,
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}:                true, // the default printer
		{Version: "v1", Kind: "Pod"}: false,
	} {
		require.Equal(t, want, PrinterFor(kind).EmptyIsNull(), "%s", kind)
	}
}

// An object of another type is an error.
func TestWrongType(t *testing.T) {
	_, err := PrinterFor(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}).AppendRow(nil, &metav1.Status{})
	require.EqualError(t, err, "the rows of Pod are not made of *v1.Status")
}

// Ages are computed when a row is read, and the bytes around them are unchanged.
func TestAgesAreComputedOnRead(t *testing.T) {
	encoded := []byte(`"cells":[`)
	var err error
	for _, cell := range []any{"<a>\x00", ageCell{time: now}, ageCell{before: `3 "(`, time: now.Add(-time.Second), after: " ago)"}, 7} {
		encoded, err = appendCell(encoded, cell)
		require.NoError(t, err)
		encoded = append(encoded, ',')
	}
	at := func(d time.Duration) string { return string(AppendWithAges(nil, encoded, now.Add(d))) }
	require.Equal(t, `"cells":["\u003ca\u003e\u0000","0s","3 \"(1s ago)",7,`, at(0))
	require.Equal(t, `"cells":["\u003ca\u003e\u0000","60m","3 \"(60m ago)",7,`, at(time.Hour))
	require.Equal(t, `"cells":["\u003ca\u003e\u0000","\u003cinvalid\u003e","3 \"(\u003cinvalid\u003e ago)",7,`, at(-time.Hour))
	require.Equal(t, "<unknown>", since(metav1.Time{}))
}
