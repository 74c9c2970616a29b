package patch

import (
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// maxShifted is the maximum number of list elements that a JSON patch may shift in total. The
	// library copies a list for each element that is inserted or removed.
	maxShifted = 40_000_000
	// maxCountedBytes is the maximum number of bytes of the documents that are read to count the
	// bytes that copy operations copy.
	maxCountedBytes = 16 << 20
)

// checkOperations returns an error for a JSON patch that would take minutes to apply to a document.
func (p *Patch) checkOperations(current []byte) error {
	inserts := 0
	for _, op := range p.operations {
		switch op.Kind() {
		case "add", "remove", "copy":
			path, err := op.Path()
			inserts += countIndexes(path, err)
		case "move":
			path, err := op.Path()
			inserts += countIndexes(path, err)
			from, err := op.From()
			inserts += countIndexes(from, err)
		}
	}
	if inserts == 0 {
		return nil
	}
	_, longest := measure(current)
	_, added := measure(p.body)
	if shifted := inserts * (longest + added); shifted > maxShifted {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum of shifted list elements in a JSON patch is %d, got %d", maxShifted, shifted))
	}
	return nil
}

// countIndexes returns 1 if a JSON pointer ends with the index of a list, or may do so.
func countIndexes(pointer string, err error) int {
	if err != nil {
		return 0
	}
	if _, err := strconv.Atoi(pointer[strings.LastIndexByte(pointer, '/')+1:]); err != nil {
		return 0
	}
	return 1
}

// checkCopies returns an error if counting the bytes that the copy operations copy from a document
// would take long.
func (p *Patch) checkCopies(current []byte) error {
	copies, size := 0, len(current)
	for _, op := range p.operations {
		if value := op["value"]; value != nil {
			size += len(*value)
		}
		if op.Kind() == "copy" {
			copies++
		}
	}
	if copies*size > maxCountedBytes {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"A JSON patch of an object of %d bytes may not have %d copy operations", len(current), copies))
	}
	return nil
}
