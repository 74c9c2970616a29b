package table

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// ageCell is a cell that tells how long ago a time was, between two texts.
type ageCell struct {
	before string
	time   time.Time
	after  string
}

// since is such a cell and nothing else, unless there is no time.
func since(t metav1.Time) any {
	if t.IsZero() {
		return unknown
	}
	return ageCell{time: t.Time}
}

// agePlaceholder is where an encoded row keeps a time. JSON has no such byte.
const agePlaceholder = 0

// agePlaceholderSize is the mark, the seconds and the nanoseconds.
const agePlaceholderSize = 1 + 8 + 4

// AppendRow appends the encoded row of an object: the JSON of its cells and conditions,
// without braces. At makes it readable.
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
	b = append(b[:len(b)-1], agePlaceholder) // in place of the quote
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

// AppendWithAges appends an encoded row as it reads at a time.
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
		if strings.HasPrefix(words, "<") { // <invalid>, of a time to come
			words = `\u003c` + strings.Trim(words, "<>") + `\u003e`
		}
		b = append(b, words...)
		row = row[at+agePlaceholderSize:]
	}
}
