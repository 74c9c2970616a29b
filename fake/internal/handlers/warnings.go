package handlers

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	// maxWarningsLength is how many characters warnings may have together before
	// they are cut, truncatedWarningLength what is then left of each (WN-04).
	maxWarningsLength      = 4096
	truncatedWarningLength = 256
)

// warnings are the Warning headers of one answer: each text once (WN-03), and when
// they get long, cut.
type warnings struct {
	texts      []string
	written    int // characters in the headers
	truncating bool
}

// add writes a text into the headers of an answer that has not begun.
func (w *warnings) add(h http.Header, text string) {
	if text == "" || slices.Contains(w.texts, text) || w.truncating && w.written >= maxWarningsLength {
		return
	}
	w.texts = append(w.texts, text)
	if w.truncating || w.written+utf8.RuneCountInString(text) <= maxWarningsLength {
		w.write(h, text)
		return
	}
	w.truncating, w.written = true, 0
	h.Del("Warning")
	for _, text := range w.texts {
		w.write(h, text)
	}
}

func (w *warnings) write(h http.Header, text string) {
	length := utf8.RuneCountInString(text)
	if w.truncating && length > truncatedWarningLength {
		text, length = string([]rune(text)[:truncatedWarningLength]), truncatedWarningLength
	}
	// A text that cannot stand in a header is left out (WN-01).
	if header, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
		w.written += length
		h.Add("Warning", header)
	}
}

// addTypeWarnings tells the client what its type has to say of an object that is fine. old is nil for
// a new one.
func (q *request) addTypeWarnings(obj, old runtime.Object) {
	if q.sub != nil {
		return
	}
	var texts []string
	if old == nil && q.res.WarningsOnCreate != nil {
		texts = q.res.WarningsOnCreate(obj)
	} else if old != nil && q.res.WarningsOnUpdate != nil {
		texts = q.res.WarningsOnUpdate(obj, old)
	}
	for _, text := range texts {
		q.warnings.add(q.w.Header(), text)
	}
}

// AddWarning implements warning.Recorder, for libraries that tell of what they let pass.
func (q *request) AddWarning(_, text string) { q.warnings.add(q.w.Header(), text) }

// addWarnings tells the client of what is wrong with a request that is carried out. The
// YAML library has one error for all that it found, a line each.
func (q *request) addWarnings(found ...error) {
	const yaml = "yaml: unmarshal errors:\n"
	for _, one := range found {
		text := one.Error()
		lines, ok := strings.CutPrefix(strings.TrimPrefix(text, "error converting YAML to JSON: "), yaml)
		if !ok {
			q.warnings.add(q.w.Header(), text)
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			q.warnings.add(q.w.Header(), strings.TrimSpace(line))
		}
	}
}
