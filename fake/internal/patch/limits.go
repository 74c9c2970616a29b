package patch

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/fake/internal/jsonvalue"
)

const (
	// maxOperations is the maximum number of operations in a JSON patch (PA-11).
	maxOperations = 10_000
	// maxCopiedBytes is the maximum number of bytes that the copy operations of one JSON patch
	// may copy in total (PA-12).
	maxCopiedBytes = 3 << 20
	// maxListElements is the maximum length of a list in a strategic merge patch. The library
	// searches the list once for each of its elements.
	maxListElements = 10_000
	// maxNestedBytes is the maximum size of a merge patch multiplied by its depth. The library
	// encodes the content of each level again.
	maxNestedBytes = 128 << 20
)

// checkLimits returns an error for a patch that the libraries would take minutes to apply. Their
// running time grows with the square of the input. A real server times out after a minute.
func checkLimits(kind types.PatchType, body []byte) error {
	depth, longest := measure(body)
	switch {
	case kind == types.StrategicMergePatchType && longest > maxListElements:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum elements of a list in a strategic merge patch is %d, got %d", maxListElements, longest))
	case kind == types.MergePatchType && depth*len(body) > maxNestedBytes:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"A merge patch of %d bytes may not be nested %d levels deep", len(body), depth))
	}
	return nil
}

// measure returns the nesting depth of valid JSON and the length of its longest list. Lists of
// less than two elements are not counted.
func measure(body []byte) (depth, longest int) {
	var open []int // for each open list its elements so far, for each open object 0
	quoted := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			open = append(open, 1)
			depth = max(depth, len(open))
		case c == '{':
			open = append(open, 0)
			depth = max(depth, len(open))
		case c == ']' || c == '}':
			open = open[:max(0, len(open)-1)]
		case c == ',' && len(open) > 0 && open[len(open)-1] > 0:
			open[len(open)-1]++
			longest = max(longest, open[len(open)-1])
		}
	}
	return depth, longest
}

// applyOperations applies a JSON patch to the document current. It returns an error if the copy
// operations copy more than maxCopiedBytes. The library has such a limit too, but in a global
// variable that belongs to the process.
func (p *Patch) applyOperations(current []byte) ([]byte, error) {
	if err := p.checkOperations(current); err != nil {
		return nil, err
	}
	if p.mayExceedCopyLimit(len(current)) {
		if err := p.checkCopies(current); err != nil {
			return nil, err
		}
		if copied := p.copiedBytes(current); copied > maxCopiedBytes {
			return nil, jsonpatch.NewAccumulatedCopySizeError(maxCopiedBytes, copied)
		}
	}
	return p.operations.Apply(current)
}

// copiedBytes returns the number of bytes that the copy operations copy. It stops at the first
// operation that fails or exceeds the limit.
func (p *Patch) copiedBytes(current []byte) (total int64) {
	done := 0
	for i, op := range p.operations {
		if op.Kind() != "copy" {
			continue
		}
		var err error
		if current, err = p.operations[done:i].Apply(current); err != nil {
			return total
		}
		done = i
		from, err := op.From()
		if err != nil {
			return total
		}
		if total += valueSize(current, from); total > maxCopiedBytes {
			return total
		}
	}
	return total
}

// mayExceedCopyLimit reports whether the copy operations could copy more than maxCopiedBytes,
// assuming that each of them doubles the object. size is the size of the object.
func (p *Patch) mayExceedCopyLimit(size int) bool {
	size += len(p.body)
	copied := 0
	for _, op := range p.operations {
		if op.Kind() != "copy" {
			continue
		}
		if copied += size; copied > maxCopiedBytes {
			return true
		}
		size *= 2
	}
	return false
}

// valueSize returns the length of the value at a JSON pointer, or 0 if there is no such value.
func valueSize(document []byte, pointer string) int64 {
	for _, name := range strings.Split(pointer, "/")[1:] {
		name = jsonvalue.Token(name)
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
