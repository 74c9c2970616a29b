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

// tables is what makes a Table of a resource, for one request.
type tables struct {
	res     *resource.Resource
	printer *table.Printer
	include metav1.IncludeObjectPolicy
	// rows names the encoded row that is kept with a record.
	rows string
	// object is what a row shows of its object, nil for nothing; partial is its
	// metadata.
	object, partial *Encoder
	// now is the time by which ages are told.
	now func() time.Time
	// headed tells that the columns were sent: a watch sends them once (WA-35).
	headed bool
}

// SetTableOptions completes a representation as Tables: include is what rows show of their
// objects (TB-05), and now the clock by which they tell ages.
func (p *Encoder) SetTableOptions(include metav1.IncludeObjectPolicy, now func() time.Time) {
	out := negotiate.Output{Media: negotiate.JSON, Form: negotiate.Partial, Beta: p.out.Beta}
	t := &tables{
		res: p.res, printer: printerOf(p.res),
		include: include, rows: "row" + converted(p.res), partial: NewEncoder(p.res, out), now: now,
	}
	switch include {
	case metav1.IncludeNone:
	case metav1.IncludeObject:
		out.Form = negotiate.Full
		t.object = NewEncoder(p.res, out)
	default:
		t.object = t.partial
	}
	p.table = t
}

// printerOf is the printer of a row. A definition may name columns that cannot be read:
// then there are those before them, as on a real server.
func printerOf(r *resource.Resource) *table.Printer {
	switch {
	case r.Custom != nil:
		p, _ := table.CustomPrinter(r.Custom.Object().AdditionalPrinterColumns)
		return p
	case r.ScaleOf != nil:
		return table.CustomScalePrinter()
	}
	return table.PrinterFor(r.StorageVersion.WithKind(r.Kind))
}

// ForResource is the representation of another resource in the same form.
func (p *Encoder) ForResource(r *resource.Resource) *Encoder {
	other := NewEncoder(r, p.out)
	if t := p.table; t != nil {
		other.SetTableOptions(t.include, t.now)
	}
	return other
}

// row is the encoded row of a record. The metadata that most rows show beside it is
// made of the same decoding.
func (t *tables) row(rec *memstore.Record) ([]byte, error) {
	return rec.CachedEncoding(t.rows, func(rec *memstore.Record) ([]byte, error) {
		obj, err := codec.DecodeStored(t.res, rec)
		if err != nil {
			return nil, err
		}
		if t.object == t.partial {
			_, err := rec.CachedEncoding(t.partial.piece, func(*memstore.Record) ([]byte, error) { return t.partial.encode(obj) })
			if err != nil {
				return nil, err
			}
		}
		return t.printer.AppendRow(nil, obj)
	})
}

// shown is what a row shows of its record.
func (t *tables) shown(rec *memstore.Record) ([]byte, error) {
	if t.object == nil {
		return nil, nil
	}
	return t.object.body(rec)
}

// record is the Table of one record, without its type.
func (t *tables) record(rec *memstore.Record) ([]byte, error) {
	row, err := t.row(rec)
	if err != nil {
		return nil, err
	}
	shown, err := t.shown(rec)
	if err != nil {
		return nil, err
	}
	return t.one(rec.Revision.String(), row, t.object, shown)
}

// single is the Table of an object that is not stored. The end of the initial events
// can be told in any case.
func (t *tables) single(obj runtime.Object) ([]byte, error) {
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
	show := t.object
	if show == nil && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
		show = t.partial
	}
	revision := m.GetResourceVersion()
	if show == nil {
		return t.one(revision, row, nil, nil)
	}
	shown, err := show.encode(obj)
	if err != nil {
		return nil, err
	}
	return t.one(revision, row, show, shown)
}

// one is a Table of one row.
func (t *tables) one(revision string, row []byte, show *Encoder, shown []byte) ([]byte, error) {
	b, err := t.head(metav1.ListMeta{ResourceVersion: revision})
	if err != nil {
		return nil, err
	}
	b = append(b, "[{"...)
	b = appendRow(table.AppendWithAges(b, row, t.now()), show, shown)
	return append(b, "}]}"...), nil
}

// appendRow ends a row behind its cells.
func appendRow(b []byte, show *Encoder, shown []byte) []byte {
	b = append(b, `,"object":`...)
	if show == nil {
		return append(b, "null"...)
	}
	return append(append(b, show.head...), shown[1:]...)
}

// head opens a Table behind its type, up to its rows.
func (t *tables) head(list metav1.ListMeta) ([]byte, error) {
	metadata, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var columns []metav1.TableColumnDefinition
	if !t.headed {
		columns = t.printer.Columns()
	}
	t.headed = true
	defined, err := json.Marshal(columns)
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"metadata":`), metadata...)
	b = append(b, `,"columnDefinitions":`...)
	b = append(b, defined...)
	return append(b, `,"rows":`...), nil
}

// tableList writes a list as a Table, as List does.
func (p *Encoder) tableList(w http.ResponseWriter, list metav1.ListMeta, items []*memstore.Record) error {
	t := p.table
	items, err := t.ordered(items)
	if err != nil {
		return err
	}
	rows, err := t.list(items)
	if err != nil {
		return err
	}
	frame, err := t.head(list)
	if err != nil {
		return err
	}
	frame = append([]byte(p.head), frame[1:]...)
	w.Header().Set("Content-Type", p.ContentType(false))
	if p.out.Media == negotiate.YAML || p.out.Pretty {
		var plain bytes.Buffer
		rows.write(&plain, frame)
		b, err := p.finish(plain.Bytes())
		if err != nil {
			return err
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b)
		return nil
	}
	size := len(frame) + rows.size() + len("\n")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	buffered := bufio.NewWriterSize(w, min(listBuffer, size))
	rows.write(buffered, frame)
	_ = buffered.WriteByte('\n')
	_ = buffered.Flush()
	return nil
}

// ordered gives the items in the order of rows, which few types have.
func (t *tables) ordered(items []*memstore.Record) ([]*memstore.Record, error) {
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

// tableRows are the rows of a list, in pieces.
type tableRows struct {
	// cells are one behind the other, ends where each ends.
	cells []byte
	ends  []int
	shown [][]byte
	show  *Encoder
	null  bool
}

// list makes the rows of a list.
func (t *tables) list(items []*memstore.Record) (*tableRows, error) {
	rows := &tableRows{
		ends: make([]int, len(items)), shown: make([][]byte, len(items)),
		show: t.object, null: len(items) == 0 && t.printer.EmptyIsNull(),
	}
	now := t.now()
	encoded, size := make([][]byte, len(items)), 0
	for i, rec := range items {
		var err error
		if encoded[i], err = t.row(rec); err != nil {
			return nil, err
		}
		if rows.shown[i], err = t.shown(rec); err != nil {
			return nil, err
		}
		size += len(encoded[i])
	}
	rows.cells = make([]byte, 0, size) // words are seldom longer than the times in their place
	for i, row := range encoded {
		rows.cells = table.AppendWithAges(rows.cells, row, now)
		rows.ends[i] = len(rows.cells)
	}
	return rows, nil
}

// size is what write writes behind the frame.
func (r *tableRows) size() int {
	if r.null {
		return len("null}")
	}
	n := len("[]}") + max(len(r.ends)-1, 0) + len(r.cells)
	if r.show == nil {
		return n + len(r.ends)*len(`{,"object":null}`)
	}
	n += len(r.ends) * (len(`{,"object":}`) + len(r.show.head))
	for _, shown := range r.shown {
		n += len(shown) - 1
	}
	return n
}

func (r *tableRows) write(w piecewise, frame []byte) {
	_, _ = w.Write(frame)
	if r.null {
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
		if r.show == nil {
			_, _ = w.WriteString("null}")
			continue
		}
		_, _ = w.WriteString(r.show.head)
		_, _ = w.Write(r.shown[i][1:])
		_ = w.WriteByte('}')
	}
	_, _ = w.WriteString("]}")
}
