package patch

import (
	"encoding/json"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// maxCopied is the most bytes that the copies of one JSON patch may have together (PA-12).
const maxCopied = 3 << 20

// operate carries out a JSON patch unless it copies too much. The library counts that itself, but has one limit for the whole process,
// which is not ours to set.
func (p *Patch) operate(current []byte) ([]byte, error) {
	if p.mightOverflow(len(current)) {
		if copied := p.copied(current); copied > maxCopied {
			return nil, jsonpatch.NewAccumulatedCopySizeError(maxCopied, copied)
		}
	}
	return p.operations.Apply(current)
}

// copied is how much the patch copies, up to where it passes the limit or fails.
func (p *Patch) copied(current []byte) (total int64) {
	done := 0
	for i, step := range p.operations {
		if step.Kind() != "copy" {
			continue
		}
		var err error
		if current, err = p.operations[done:i].Apply(current); err != nil {
			return total
		}
		done = i
		from, err := step.From()
		if err != nil {
			return total
		}
		if total += sizeAt(current, from); total > maxCopied {
			return total
		}
	}
	return total
}

// mightOverflow reports whether the copies could reach the limit if each of them doubled the object.
func (p *Patch) mightOverflow(size int) bool {
	size += len(p.body)
	copied := 0
	for _, step := range p.operations {
		if step.Kind() != "copy" {
			continue
		}
		if copied += size; copied > maxCopied {
			return true
		}
		size *= 2
	}
	return false
}

// sizeAt is the length of the value that a JSON pointer leads to, 0 if to none.
func sizeAt(document []byte, pointer string) int64 {
	for _, name := range strings.Split(pointer, "/")[1:] {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		var fields map[string]json.RawMessage
		var items []json.RawMessage
		switch {
		case json.Unmarshal(document, &fields) == nil:
			document = fields[name]
		case json.Unmarshal(document, &items) == nil:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(items) {
				return 0
			}
			document = items[i]
		}
	}
	return int64(len(document))
}
