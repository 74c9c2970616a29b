package encode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/table"
	"example.com/fakeapi/memstore"
)

// tableEncoder encodes objects as Tables, for one request.
type tableEncoder struct {
	res     *resource.Resource
	printer *table.Printer
	include metav1.IncludeObjectPolicy
	// rowCacheKey is the key under which an encoded row is cached with a record.
	rowCacheKey string
	// object encodes the object of a row; it is nil if rows have none. partial encodes its
	// metadata.
	object, partial *Encoder
	// now returns the time that ages are relative to.
	now func() time.Time
	// columnsSent reports whether the columns were sent. A watch sends them once (WA-35).
	columnsSent bool
}

// SetTableOptions sets the options of an Encoder of Tables. include selects the objects of rows
// (TB-05). now returns the time that ages are relative to.
func (e *Encoder) SetTableOptions(include metav1.IncludeObjectPolicy, now func() time.Time) {
	out := negotiate.Output{Media: negotiate.JSON, Form: negotiate.Partial, Beta: e.out.Beta}
	t := &tableEncoder{
		res: e.res, printer: newPrinter(e.res),
		include: include, rowCacheKey: "row" + conversionCacheKey(e.res), partial: NewEncoder(e.res, out), now: now,
	}
	switch include {
	case metav1.IncludeNone:
	case metav1.IncludeObject:
		out.Form = negotiate.Full
		t.object = NewEncoder(e.res, out)
	default:
		t.object = t.partial
	}
	e.table = t
}

// newPrinter returns the printer of a resource. If a CustomResourceDefinition has a column that
// cannot be parsed, the table has the columns before it, as on a real server.
func newPrinter(r *resource.Resource) *table.Printer {
	switch {
	case r.Custom != nil:
		e, _ := table.CustomPrinter(r.Custom.Object().AdditionalPrinterColumns)
		return e
	case r.ScaleOf != nil:
		return table.CustomScalePrinter()
	}
	return table.PrinterFor(r.StorageVersion.WithKind(r.Kind))
}

// ForResource returns an Encoder of another resource in the same form.
func (e *Encoder) ForResource(r *resource.Resource) *Encoder { return e.with(r, e.out) }

// AsJSON returns an Encoder of the same form in JSON without indentation.
func (e *Encoder) AsJSON() *Encoder {
	out := e.out
	out.Media, out.Pretty = negotiate.JSON, false
	return e.with(e.res, out)
}

// with returns an Encoder with the same options of Tables, which decorates if e does.
func (e *Encoder) with(r *resource.Resource, out negotiate.Output) *Encoder {
	other := NewEncoder(r, out)
	if t := e.table; t != nil {
		other.SetTableOptions(t.include, t.now)
	}
	if e.decorated {
		other.Decorate()
	}
	return other
}

// row returns the encoded row of a record.
func (t *tableEncoder) row(rec *memstore.Record) ([]byte, error) {
	return rec.CachedEncoding(t.rowCacheKey, func(rec *memstore.Record) ([]byte, error) {
		obj, err := codec.DecodeStoredWithout(t.res, rec, t.printer.NotPrinted())
		if err != nil {
			return nil, err
		}
		return t.printer.AppendRow(nil, obj)
	})
}

// rowObject returns the encoded object of a row.
func (t *tableEncoder) rowObject(rec *memstore.Record) ([]byte, error) {
	if t.object == nil {
		return nil, nil
	}
	return t.object.recordBody(rec)
}

// encodeRecord returns the Table of one record, without TypeMeta.
func (t *tableEncoder) encodeRecord(rec *memstore.Record) ([]byte, error) {
	row, err := t.row(rec)
	if err != nil {
		return nil, err
	}
	object, err := t.rowObject(rec)
	if err != nil {
		return nil, err
	}
	return t.encodeSingleRow(rec.Revision.String(), row, t.object, object)
}

// encodeObject returns the Table of an object that is not stored. A bookmark at the end of the
// initial events has metadata even if rows have no objects, because its annotation is in there.
func (t *tableEncoder) encodeObject(obj runtime.Object) ([]byte, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	stored, err := t.res.Convert(obj, t.res.StorageVersion)
	if err != nil {
		return nil, err
	}
	row, err := t.printer.AppendRow(nil, stored)
	if err != nil {
		return nil, err
	}
	objects := t.object
	if objects == nil && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
		objects = t.partial
	}
	revision := m.GetResourceVersion()
	if objects == nil {
		return t.encodeSingleRow(revision, row, nil, nil)
	}
	object, err := objects.encodeBody(obj)
	if err != nil {
		return nil, err
	}
	return t.encodeSingleRow(revision, row, objects, object)
}

// encodeSingleRow returns a Table of one row.
func (t *tableEncoder) encodeSingleRow(revision string, row []byte, objects *Encoder, object []byte) ([]byte, error) {
	b, err := t.prefix(metav1.ListMeta{ResourceVersion: revision})
	if err != nil {
		return nil, err
	}
	b = append(b, "[{"...)
	b = appendRowObject(table.AppendWithAges(b, row, t.now()), objects, object)
	return append(b, "}]}"...), nil
}

// appendRowObject appends the end of a row after its cells.
func appendRowObject(b []byte, objects *Encoder, object []byte) []byte {
	b = append(b, `,"object":`...)
	if objects == nil {
		return append(b, "null"...)
	}
	return append(append(append(b, objects.typeMeta...), object[1:]...), objects.bodyEnd...)
}

// prefix returns a Table without TypeMeta, up to its rows.
func (t *tableEncoder) prefix(list metav1.ListMeta) ([]byte, error) {
	metadata, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var columns []metav1.TableColumnDefinition
	if !t.columnsSent {
		columns = t.printer.Columns()
	}
	t.columnsSent = true
	columnsJSON, err := json.Marshal(columns)
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"metadata":`), metadata...)
	b = append(b, `,"columnDefinitions":`...)
	b = append(b, columnsJSON...)
	return append(b, `,"rows":`...), nil
}

// writeTable is WriteList for Tables.
func (e *Encoder) writeTable(w http.ResponseWriter, list metav1.ListMeta, items []*memstore.Record) error {
	t := e.table
	items, err := t.sortItems(items)
	if err != nil {
		return err
	}
	rows, err := t.newRows(items)
	if err != nil {
		return err
	}
	prefix, err := t.prefix(list)
	if err != nil {
		return err
	}
	prefix = append([]byte(e.typeMeta), prefix[1:]...)
	w.Header().Set("Content-Type", e.ContentType(false))
	if e.out.Media == negotiate.YAML || e.out.Pretty {
		var plain bytes.Buffer
		rows.write(&plain, prefix)
		b, err := e.format(plain.Bytes())
		if err != nil {
			return err
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b)
		return nil
	}
	size := len(prefix) + rows.size() + len("\n")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	buffered := bufio.NewWriterSize(w, min(listBuffer, size))
	rows.write(buffered, prefix)
	_ = buffered.WriteByte('\n')
	_ = buffered.Flush()
	return nil
}

// sortItems returns the items in the order of the rows, which few types define.
func (t *tableEncoder) sortItems(items []*memstore.Record) ([]*memstore.Record, error) {
	compare := t.printer.CompareFunc()
	if compare == nil {
		return items, nil
	}
	objects := make(map[*memstore.Record]runtime.Object, len(items))
	for _, rec := range items {
		obj, err := codec.DecodeStored(t.res, rec)
		if err != nil {
			return nil, err
		}
		objects[rec] = obj
	}
	return slices.SortedStableFunc(slices.Values(items), func(a, b *memstore.Record) int {
		return compare(objects[a], objects[b])
	}), nil
}

// currentDefault returns the item whose row gets the mark of a default: the newest of the items for
// which isDefault returns true, and of those that are as new, the first. It is nil if there is
// none.
func (t *tableEncoder) currentDefault(items []*memstore.Record, isDefault func(runtime.Object) bool) (current *memstore.Record, err error) {
	var since metav1.Time
	for _, rec := range items {
		obj, err := codec.DecodeStored(t.res, rec)
		if err != nil {
			return nil, err
		}
		created := resource.Accessor(obj).GetCreationTimestamp()
		if isDefault(obj) && (current == nil || created.After(since.Time)) {
			current, since = rec, created
		}
	}
	return current, nil
}

// tableRows has the rows of a list in parts.
type tableRows struct {
	// cells has the cells of all rows; ends has the end of each row in it.
	cells         []byte
	ends          []int
	objects       [][]byte
	objectEncoder *Encoder
	isNull        bool
}

// newRows encodes the rows of a list.
func (t *tableEncoder) newRows(items []*memstore.Record) (*tableRows, error) {
	rows := &tableRows{
		ends: make([]int, len(items)), objects: make([][]byte, len(items)),
		objectEncoder: t.object, isNull: len(items) == 0 && t.printer.EmptyIsNull(),
	}
	var current *memstore.Record
	if isDefault := t.printer.DefaultFunc(); isDefault != nil {
		var err error
		if current, err = t.currentDefault(items, isDefault); err != nil {
			return nil, err
		}
	}
	now := t.now()
	encoded, size := make([][]byte, len(items)), 0
	for i, rec := range items {
		var err error
		if encoded[i], err = t.row(rec); err != nil {
			return nil, err
		}
		if rec == current {
			encoded[i] = table.WithDefaultMark(encoded[i])
		}
		if rows.objects[i], err = t.rowObject(rec); err != nil {
			return nil, err
		}
		size += len(encoded[i])
	}
	rows.cells = make([]byte, 0, size) // an age is seldom longer than the encoded time that it replaces
	for i, row := range encoded {
		rows.cells = table.AppendWithAges(rows.cells, row, now)
		rows.ends[i] = len(rows.cells)
	}
	return rows, nil
}

// size returns the number of bytes that write writes after the prefix.
func (r *tableRows) size() int {
	if r.isNull {
		return len("null}")
	}
	n := len("[]}") + max(len(r.ends)-1, 0) + len(r.cells)
	if r.objectEncoder == nil {
		return n + len(r.ends)*len(`{,"object":null}`)
	}
	n += len(r.ends) * (len(`{,"object":}`) + len(r.objectEncoder.typeMeta) + len(r.objectEncoder.bodyEnd))
	for _, object := range r.objects {
		n += len(object) - 1
	}
	return n
}

func (r *tableRows) write(w listWriter, prefix []byte) {
	_, _ = w.Write(prefix)
	if r.isNull {
		_, _ = w.WriteString("null}")
		return
	}
	_ = w.WriteByte('[')
	begin := 0
	for i, end := range r.ends {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		_ = w.WriteByte('{')
		_, _ = w.Write(r.cells[begin:end])
		begin = end
		_, _ = w.WriteString(`,"object":`)
		if r.objectEncoder == nil {
			_, _ = w.WriteString("null}")
			continue
		}
		_, _ = w.WriteString(r.objectEncoder.typeMeta)
		_, _ = w.Write(r.objects[i][1:])
		_, _ = w.WriteString(r.objectEncoder.bodyEnd)
		_ = w.WriteByte('}')
	}
	_, _ = w.WriteString("]}")
}
