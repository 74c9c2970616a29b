package table

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// ageCell is a cell with the time since an event, between two texts.
type ageCell struct {
	before string
	time   time.Time
	after  string
}

// since returns the cell of the time since t, or <unknown> for the zero time.
func since(t metav1.Time) any {
	if t.IsZero() {
		return unknown
	}
	return ageCell{time: t.Time}
}

// agePlaceholder marks a time in an encoded row. It is a byte that JSON does not contain.
const agePlaceholder = 0

// agePlaceholderSize is the length of the mark, the seconds and the nanoseconds.
const agePlaceholderSize = 1 + 8 + 4

// AppendRow appends the encoded row of an object: the JSON of its cells and conditions, without
// braces. AppendWithAges makes it JSON.
func (p *Printer) AppendRow(b []byte, obj runtime.Object) ([]byte, error) {
	cells, err := p.cells(obj)
	if err != nil {
		return b, err
	}
	b = append(b, `"cells":[`...)
	for i, cell := range cells {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendCell(b, cell); err != nil {
			return b, err
		}
	}
	b = append(b, ']')
	if p.conditions == nil {
		return b, nil
	}
	conditions := p.conditions(obj)
	if len(conditions) == 0 {
		return b, nil
	}
	b = append(b, `,"conditions":`...)
	return appendJSON(b, conditions)
}

func appendCell(b []byte, cell any) ([]byte, error) {
	a, ok := cell.(ageCell)
	if !ok {
		return appendJSON(b, cell)
	}
	b, err := appendJSON(b, a.before)
	if err != nil {
		return b, err
	}
	b = append(b[:len(b)-1], agePlaceholder) // replaces the closing quote
	b = binary.BigEndian.AppendUint64(b, uint64(a.time.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(a.time.Nanosecond()))
	at := len(b)
	if b, err = appendJSON(b, a.after); err != nil {
		return b, err
	}
	return append(b[:at], b[at+1:]...), nil
}

func appendJSON(b []byte, value any) ([]byte, error) {
	encoded, err := json.Marshal(value)
	return append(b, encoded...), err
}

// defaultMark is after the name of the default of a type.
const defaultMark = " (default)"

// WithDefaultMark returns an encoded row with the mark after the name, which is the first cell.
func WithDefaultMark(row []byte) []byte {
	const name = `"cells":["`
	end := len(name) + bytes.IndexByte(row[len(name):], '"')
	return slices.Concat(row[:end], []byte(defaultMark), row[end:])
}

// AppendWithAges appends an encoded row with ages as of now.
func AppendWithAges(b, row []byte, now time.Time) []byte {
	for {
		at := bytes.IndexByte(row, agePlaceholder)
		if at < 0 {
			return append(b, row...)
		}
		b = append(b, row[:at]...)
		seconds := int64(binary.BigEndian.Uint64(row[at+1:]))
		nanoseconds := int64(binary.BigEndian.Uint32(row[at+9:]))
		words := duration.HumanDuration(now.Sub(time.Unix(seconds, nanoseconds)))
		if strings.HasPrefix(words, "<") { // <invalid>, for a time in the future
			words = `\u003c` + strings.Trim(words, "<>") + `\u003e`
		}
		b = append(b, words...)
		row = row[at+agePlaceholderSize:]
	}
}
