package table

import (
	"embed"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// testdata has the files that tests read. They are embedded, because go test reuses the result of a
// test in another checkout only if the test opens no files of the module.
//
//go:embed testdata
var testdata embed.FS

// cellsOf returns the cells of an object's row as a client reads them.
func cellsOf(t *testing.T, p *Printer, obj runtime.Object, at time.Time) []any {
	t.Helper()
	encoded, err := p.AppendRow(nil, obj)
	require.NoError(t, err)
	var read struct{ Cells []any }
	require.NoError(t, json.Unmarshal([]byte("{"+string(AppendWithAges(nil, encoded, at))+"}"), &read))
	return read.Cells
}

// testdata/custom.json has the Table of a real v0.37.2 server for objects with columns of all
// types, their definitions and the objects.
func TestCustomColumnsAreThoseOfARealServer(t *testing.T) {
	body, err := testdata.ReadFile("testdata/custom.json")
	require.NoError(t, err)
	var recorded struct {
		At                time.Time                                        `json:"at"`
		Columns           []apiextensionsv1.CustomResourceColumnDefinition `json:"columns"`
		Items             []map[string]any                                 `json:"items"`
		ColumnDefinitions []metav1.TableColumnDefinition                   `json:"columnDefinitions"`
		Cells             [][]any                                          `json:"cells"`
	}
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(body, &recorded))
	p, err := CustomPrinter(recorded.Columns)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(recorded.ColumnDefinitions, p.Columns()))
	require.NotEmpty(t, recorded.Items)
	for i, item := range recorded.Items {
		got := cellsOf(t, p, &unstructured.Unstructured{Object: item}, recorded.At)
		want, err := json.Marshal(recorded.Cells[i])
		require.NoError(t, err)
		var cells []any
		require.NoError(t, json.Unmarshal(want, &cells))
		require.Empty(t, cmp.Diff(cells, got), "row %d", i)
	}
	require.False(t, p.EmptyIsNull(), "a list of nothing has no rows, and not null")
}

func newGadget(name string, created time.Time) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(3)}}}
	u.SetName(name)
	if !created.IsZero() {
		u.SetCreationTimestamp(metav1.NewTime(created))
	}
	return u
}

// A version without columns has the name and the age (TB-07).
func TestCustomWithoutColumns(t *testing.T) {
	p, err := CustomPrinter(nil)
	require.NoError(t, err)
	require.Equal(t, []string{"Name", "Age"}, []string{p.Columns()[0].Name, p.Columns()[1].Name})
	require.Equal(t, "date", p.Columns()[1].Type)
	require.Len(t, p.Columns(), 2)
	require.Equal(t, []any{"a", "3m"}, cellsOf(t, p, newGadget("a", now.Add(-3*time.Minute)), now))
	require.Equal(t, []any{"b", nil}, cellsOf(t, p, newGadget("b", time.Time{}), now))
}

// The columns before an invalid one are shown.
func TestCustomWithABadPath(t *testing.T) {
	p, err := CustomPrinter([]apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "Size", Type: "integer", JSONPath: ".spec.size"},
		{Name: "Bad", Type: "string", JSONPath: ".spec[?("},
		{Name: "More", Type: "string", JSONPath: ".spec.more"},
	})
	require.EqualError(t, err, `unrecognized column definition ".spec[?("`)
	require.Len(t, p.Columns(), 2)
	require.Equal(t, []any{"a", 3.0}, cellsOf(t, p, newGadget("a", now), now))
}

// The age in a cached row is computed when the row is read.
func TestCustomAgesChange(t *testing.T) {
	p, err := CustomPrinter([]apiextensionsv1.CustomResourceColumnDefinition{{Name: "Born", Type: "date", JSONPath: ".metadata.creationTimestamp"}})
	require.NoError(t, err)
	encoded, err := p.AppendRow(nil, newGadget("a", now))
	require.NoError(t, err)
	require.Equal(t, `"cells":["a","5s"]`, string(AppendWithAges(nil, encoded, now.Add(5*time.Second))))
	require.Equal(t, `"cells":["a","2d"]`, string(AppendWithAges(nil, encoded, now.Add(48*time.Hour))))
}

func TestCustomScaleColumns(t *testing.T) {
	var names []string
	for _, c := range CustomScalePrinter().Columns() {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"Name", "Desired", "Available", "Age"}, names)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "a", CreationTimestamp: before(time.Hour)}}
	scale.Spec.Replicas, scale.Status.Replicas = 4, 2
	require.Equal(t, []any{"a", 4.0, 2.0, "60m"}, cellsOf(t, CustomScalePrinter(), scale, now))
}

// A printer may be used by concurrent requests.
func TestCustomPrinterIsShared(t *testing.T) {
	p, err := CustomPrinter([]apiextensionsv1.CustomResourceColumnDefinition{{Name: "Each", Type: "integer", JSONPath: ".spec.*"}})
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				b, err := p.AppendRow(nil, newGadget("a", now))
				if err != nil || string(b) != `"cells":["a",3]` {
					t.Errorf("%s %v", b, err)
				}
			}
		})
	}
	group.Wait()
}

// managedFields are decoded for the rows of a definition if a column may read them.
func TestNotPrintedOfCustomResources(t *testing.T) {
	for path, want := range map[string]bool{
		".spec": true, ".spec.replicas": true, `.status.conditions[?(@.type=="Ready")].status`: true, ".status..reason": true,
		".metadata.creationTimestamp": true, `.metadata.labels.a\.b/c`: true,
		".metadata": false, ".metadata.managedFields": false, ".metadata.managedFields[0].manager": false, ".metadata['managedFields']": false,
		".metadata.*": false, ".metadata..manager": false, "..manager": false, ".*": false, "": false, "..": false, ".specs": false,
		".spec}{.metadata.managedFields": false, ".spec}{.metadata": false, "['spec']": false, ".metadata[*]": false,
	} {
		columns := []apiextensionsv1.CustomResourceColumnDefinition{createdColumn(), {Name: "A", Type: "string", JSONPath: path}}
		_, omitted := notPrintedCustom(columns)["metadata"]["managedFields"]
		require.Equal(t, want, omitted, path)
	}
	p, err := CustomPrinter(nil)
	require.NoError(t, err)
	require.Contains(t, p.NotPrinted()["metadata"], "managedFields")
}
