package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docTables        = "Kubernetes API Concepts, Receiving resources as Tables"
	docTableCode     = "apiserver handlers/response.go"
	metaGroupVersion = "meta.k8s.io/v1"
)

// tableCases returns the cases about Tables, which kubectl get prints (TB), and about watches of
// Tables (WA-35).
func tableCases() []Case {
	return slices.Concat(
		onBoth(Case{
			ID: "TB-01", Level: Must, Title: "an object and a list are returned as a Table if the client accepts it",
			Why:    "kubectl get prints types that it does not know",
			Source: docTables,
		}, onFiveObjects(checkTables(mediaTypeTable, metaGroupVersion))),
		onBoth(Case{
			ID: "TB-02", Level: Must, Title: "Tables of v1beta1 are still served, with metadata of v1beta1 in the rows",
			Why:    "older clients support v1beta1 only",
			Source: docTables,
		}, onFiveObjects(checkTables("application/json;as=Table;g=meta.k8s.io;v=v1beta1", "meta.k8s.io/v1beta1"))),
		onBoth(Case{
			ID: "TB-03", Level: Must, Title: "an unsupported Table form is not acceptable, and skipped if Accept has alternatives",
			Why:    "clients list their preferred form first, and alternatives after it",
			Source: docTables,
		}, checkUnknownTables),
		onBoth(Case{
			ID: "TB-04", Level: Must, Title: "columns have all of their fields, the first column is the name, and every row has a cell for each column",
			Why:    "clients format their output by them",
			Source: docTables,
		}, onFiveObjects(checkTableColumns)),
		onBoth(Case{
			ID: "TB-05", Level: Must, Title: "rows have the metadata of their objects, or what includeObject selects",
			Why:    "kubectl reads labels, namespaces and sort keys from the rows",
			Source: docTables + "; " + docTableCode,
		}, onFiveObjects(checkIncludeObject)),
		onBoth(Case{
			ID: "TB-06", Level: Must, Title: "an invalid includeObject is a bad request",
			Why:    "the client would wait for objects that are not sent",
			Source: docTableCode,
		}, onFiveObjects(checkInvalidIncludeObject)),
		[]Case{
			onScaleCRs(Case{
				ID: "TB-07/columns", Level: Must, Title: "the columns of a custom resource are its additionalPrinterColumns, with null for missing values",
				Why:    "authors of CRDs choose the columns",
				Source: "apiextensions-apiserver registry/customresource/tableconvertor",
			}, checkCustomColumns),
			onBasicCRs(Case{
				ID: "TB-07/plain", Level: Must, Title: "a custom resource without columns has Name and Age",
				Why:    "kubectl get prints every resource",
				Source: "apiextensions-apiserver registry/customresource/tableconvertor",
			}, onFiveObjects(checkColumns("Name", "Age"))),
			onCollection((*session).roles, Case{
				ID: "TB-08", Level: Must, Title: "a type without a printer has Name and Created At",
				Why:    "kubectl get prints every resource",
				Source: "apiserver registry/rest/table.go",
			}, checkPlainTable),
		},
		onBoth(Case{
			ID: "TB-09", Level: Must, Title: "the Table of a list has the metadata of the list, that of an object its resourceVersion",
			Why:    "kubectl reads pages and starts watches with it",
			Source: docTableCode,
		}, onFiveObjects(checkTableMetadata)),
		onBoth(Case{
			ID: "TB-10", Level: Must, Title: "a Status is never converted to a Table",
			Why:    "clients would not detect errors",
			Source: docTableCode,
		}, onFiveObjects(checkStatusIsNoTable)),
		onBoth(Case{
			ID: "TB-11", Level: Must, Title: "Tables are not served in protobuf",
			Why:    "cells have no protobuf type",
			Source: "apiserver handlers/rest.go",
		}, onFiveObjects(checkNoProtobufTable)),
		onBoth(Case{
			ID: "TB-12", Level: Must, Title: "Tables are served in YAML, but not for watches",
			Why:    "YAML has no framing for streams",
			Source: docTableCode,
		}, onFiveObjects(checkYAMLTable)),
		onBoth(Case{
			ID: "WA-35", Level: Must, Title: "a watch as Tables sends the columns with its first event only",
			Why:    "kubectl get --watch prints one header",
			Source: docTables + "; " + docTableCode,
		}, checkTableWatch),
	)
}

// table decodes the Table of a response.
func (r *response) table() (metav1.Table, error) {
	var t metav1.Table
	return t, r.decode(&t)
}

// checkTables expects Tables of this version for the list and for an object.
func checkTables(accept, version string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		for path, names := range sortedByKey(map[string][]string{c.path(): fiveNames, c.item("b"): {"b"}}) {
			r, err := s.do(ctx, get(path).withAccept(accept), code(200), mediaType("application/json"), kind(version, "Table"))
			if err != nil {
				return err
			}
			t, err := r.table()
			if err != nil {
				return err
			}
			var got []string
			for _, row := range t.Rows {
				var o metav1.PartialObjectMetadata
				if err := json.Unmarshal(row.Object.Raw, &o); err != nil {
					return r.errorf("expected the metadata in a row: %w", err)
				}
				if want := (metav1.TypeMeta{APIVersion: version, Kind: "PartialObjectMetadata"}); o.TypeMeta != want {
					return r.errorf("expected %v in the rows, got %v", want, o.TypeMeta)
				}
				got = append(got, o.Name)
			}
			if !slices.Equal(got, names) {
				return r.errorf("expected the rows %v, got %v", names, got)
			}
		}
		return nil
	}
}

func checkUnknownTables(ctx context.Context, s *session, c collection) error {
	rejected := failure{code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable, contains: "only the following media types are accepted: "}
	for _, form := range []string{"as=Table;g=meta.k8s.io;v=v9", "as=Table;g=example.com;v=v1", "as=Nothing;g=meta.k8s.io;v=v1", "as=Table;v=v1"} {
		if err := s.expect(ctx, get(c.path()).withAccept("application/json;"+form), rejected.check); err != nil {
			return err
		}
		if err := s.expect(ctx, get(c.path()).withAccept("application/json;"+form+",application/json"), code(200), kind(c.apiVersion, c.kind+"List")); err != nil {
			return err
		}
	}
	return nil
}

func checkTableColumns(ctx context.Context, s *session, c collection) error {
	r, err := s.do(ctx, get(c.path()).withAccept(mediaTypeTable), code(200))
	if err != nil {
		return err
	}
	var t struct {
		ColumnDefinitions []map[string]any
		Rows              []metav1.TableRow
	}
	if err := r.decode(&t); err != nil {
		return err
	}
	for i, column := range t.ColumnDefinitions {
		for _, field := range []string{"name", "type", "format", "description"} {
			if _, isText := column[field].(string); !isText {
				return r.errorf("expected a text %s in column %d, got %v", field, i, column)
			}
		}
		if _, isNumber := column["priority"].(float64); !isNumber {
			return r.errorf("expected a priority in column %d, got %v", i, column)
		}
	}
	if len(t.ColumnDefinitions) == 0 || t.ColumnDefinitions[0]["name"] != "Name" || t.ColumnDefinitions[0]["format"] != "name" {
		return r.errorf("expected the column Name in the format name first")
	}
	for i, row := range t.Rows {
		if len(row.Cells) != len(t.ColumnDefinitions) || row.Cells[0] != fiveNames[i] {
			return r.errorf("expected a row of %s with %d cells, got %v", fiveNames[i], len(t.ColumnDefinitions), row.Cells)
		}
	}
	return nil
}

func checkIncludeObject(ctx context.Context, s *session, c collection) error {
	full, err := s.do(ctx, get(c.item("b")), code(200))
	if err != nil {
		return err
	}
	var object map[string]any
	if err := full.decode(&object); err != nil {
		return err
	}
	metadata := map[string]any{"kind": "PartialObjectMetadata", "apiVersion": metaGroupVersion, "metadata": object["metadata"]}
	for include, want := range sortedByKey(map[string]any{"": metadata, "?includeObject=Metadata": metadata, "?includeObject=None": nil, "?includeObject=Object": object}) {
		r, err := s.do(ctx, get(c.item("b")+include).withAccept(mediaTypeTable), code(200))
		if err != nil {
			return err
		}
		var t struct{ Rows []map[string]any }
		if err := r.decode(&t); err != nil {
			return err
		}
		if len(t.Rows) != 1 || fmt.Sprint(t.Rows[0]["object"]) != fmt.Sprint(want) {
			return r.errorf("expected one row of the object %v", want)
		}
	}
	return nil
}

func checkInvalidIncludeObject(ctx context.Context, s *session, c collection) error {
	rejected := failure{
		code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
		message: `Unable to convert to Table as requested: includeObject: Invalid value: "Foo": must be 'Metadata', 'Object', 'None', or empty`,
	}
	for _, path := range []string{c.path() + "?", c.item("a") + "?", c.path() + "?watch=true&timeoutSeconds=1&"} {
		if err := s.expect(ctx, get(path+"includeObject=Foo").withAccept(mediaTypeTable), rejected.check); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.path()+"?includeObject=Foo"), code(200)) // only Tables have the parameter
}

// checkColumns expects exactly these columns.
func checkColumns(want ...string) collectionCheck {
	return func(ctx context.Context, s *session, c collection) error {
		r, err := s.do(ctx, get(c.path()).withAccept(mediaTypeTable), code(200))
		if err != nil {
			return err
		}
		t, err := r.table()
		if err != nil {
			return err
		}
		var got []string
		for _, column := range t.ColumnDefinitions {
			got = append(got, column.Name)
		}
		if !slices.Equal(got, want) {
			return r.errorf("expected the columns %v, got %v", want, got)
		}
		return nil
	}
}

// checkCustomColumns reads the columns of the older version of the custom resource with
// subresources.
func checkCustomColumns(ctx context.Context, s *session, c collection) error {
	if _, err := c.create(ctx, c.scaleCR("a")); err != nil {
		return err
	}
	old := c.inScaleVersion("v1alpha1")
	if err := checkColumns("Name", "Replicas", "Missing")(ctx, s, old); err != nil {
		return err
	}
	r, err := s.do(ctx, get(old.path()).withAccept(mediaTypeTable), code(200))
	if err != nil {
		return err
	}
	t, err := r.table()
	if err != nil {
		return err
	}
	if len(t.Rows) != 1 || !slices.Equal(t.Rows[0].Cells, []any{"a", 1.0, nil}) {
		return r.errorf("expected one row of a, 1 and null")
	}
	if got := t.ColumnDefinitions[2]; got.Type != "string" || got.Priority != 1 {
		return r.errorf("expected the type and the priority of the definition, got %v", got)
	}
	return nil
}

func checkPlainTable(ctx context.Context, s *session, c collection) error {
	made, err := c.create(ctx, c.object("a").with("rules", []any{}))
	if err != nil {
		return err
	}
	if err := checkColumns("Name", "Created At")(ctx, s, c); err != nil {
		return err
	}
	r, err := s.do(ctx, get(c.item("a")).withAccept(mediaTypeTable), code(200))
	if err != nil {
		return err
	}
	t, err := r.table()
	if err != nil {
		return err
	}
	if want := made.CreationTimestamp.UTC().Format(time.RFC3339); len(t.Rows) != 1 || !slices.Equal(t.Rows[0].Cells, []any{"a", want}) {
		return r.errorf("expected one row of a and %s", want)
	}
	return nil
}

func checkTableMetadata(ctx context.Context, s *session, c collection) error {
	list, err := c.list(ctx, "?limit=2")
	if err != nil {
		return err
	}
	exact := "&resourceVersionMatch=Exact&resourceVersion=" + list.Metadata.ResourceVersion // others may write in between
	r, err := s.do(ctx, get(c.path()+"?limit=2"+exact).withAccept(mediaTypeTable), code(200), atResourceVersion(list.Metadata.ResourceVersion), hasField("metadata", "continue"),
		value(3, "metadata", "remainingItemCount"))
	if err != nil {
		return err
	}
	meta, err := listMetaOf(r)
	if err != nil {
		return err
	}
	err = s.expect(ctx, get(c.path()+"?limit=5&continue="+meta.Continue).withAccept(mediaTypeTable), code(200), kind(metaGroupVersion, "Table"),
		atResourceVersion(meta.ResourceVersion), value(nil, "metadata", "remainingItemCount"))
	if err != nil {
		return err
	}
	return s.expect(ctx, get(c.item("a")).withAccept(mediaTypeTable), code(200), value(object{"resourceVersion": list.Items[0].ResourceVersion}, "metadata"))
}

func checkStatusIsNoTable(ctx context.Context, s *session, c collection) error {
	for path, want := range sortedByKey(map[string]failure{
		c.item("none"):            {code: http.StatusNotFound, reason: metav1.StatusReasonNotFound, details: c.statusDetails("none")},
		c.path() + "?limit=x":     {code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest},
		c.path() + "?continue=xx": {code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest},
	}) {
		if err := s.expect(ctx, get(path).withAccept(mediaTypeTable), want.check); err != nil {
			return err
		}
	}
	created := post(c.path(), c.object("a")).withAccept(mediaTypeTable)
	exists := failure{code: http.StatusConflict, reason: metav1.StatusReasonAlreadyExists, details: c.statusDetails("a")}
	if err := s.expect(ctx, created, exists.check); err != nil {
		return err
	}
	return s.expect(ctx, del(c.item("a")).withAccept(mediaTypeTable), code(200), kind("v1", "Status"), field("Success", "status"))
}

func checkNoProtobufTable(ctx context.Context, s *session, c collection) error {
	const protobuf = "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1"
	rejected := failure{code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable, contains: "only the following media types are accepted: "}
	for _, path := range []string{c.path(), c.item("a"), c.path() + "?watch=true&timeoutSeconds=1"} {
		if err := s.expect(ctx, get(path).withAccept(protobuf), rejected.check); err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.path()).withAccept(protobuf+","+mediaTypeTable), code(200), kind(metaGroupVersion, "Table"))
}

func checkYAMLTable(ctx context.Context, s *session, c collection) error {
	const yaml = "application/yaml;as=Table;g=meta.k8s.io;v=v1"
	r, err := s.do(ctx, get(c.path()).withAccept(yaml), code(200), mediaType("application/yaml"))
	if err != nil {
		return err
	}
	if !bytes.Contains(r.body, []byte("\nkind: Table\n")) {
		return r.errorf("expected a Table in YAML")
	}
	rejected := failure{
		code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable,
		contains: "only the following media types are accepted: application/json;stream=watch",
	}
	return s.expect(ctx, get(c.path()+"?watch=true&timeoutSeconds=1").withAccept(yaml), rejected.check)
}

func checkTableWatch(ctx context.Context, s *session, c collection) error {
	empty, err := c.list(ctx, "")
	if err != nil {
		return err
	}
	w, err := s.watch(ctx, get(c.path()+"?watch=true&resourceVersion="+empty.Metadata.ResourceVersion).withAccept(mediaTypeTable))
	if err != nil {
		return err
	}
	defer w.close()
	for i, step := range []struct {
		event string
		do    func() error
	}{
		{"ADDED", func() error { _, err := c.create(ctx, c.object("a")); return err }},
		{"MODIFIED", func() error { _, err := c.annotate(ctx, "a", "1"); return err }},
		{"DELETED", func() error { return c.delete(ctx, "a") }},
	} {
		if err := step.do(); err != nil {
			return err
		}
		e, err := w.next()
		if err != nil {
			return err
		}
		row, err := tableRow(w, e)
		if err != nil {
			return err
		}
		if e.Type != step.event || row.Name != "a" {
			return w.errorf("expected %s with a row of a, got %s", step.event, excerpt(e.Object))
		}
		var t metav1.Table
		if err := json.Unmarshal(e.Object, &t); err != nil {
			return w.errorf("expected a Table: %w", err)
		}
		if headed := len(t.ColumnDefinitions) > 0; headed != (i == 0) {
			return w.errorf("expected columns in the first event only, got in event %d %s", i+1, excerpt(e.Object))
		}
		if t.ResourceVersion != row.ResourceVersion {
			return w.errorf("expected a Table with the resourceVersion of its object, got %s", excerpt(e.Object))
		}
	}
	return nil
}
