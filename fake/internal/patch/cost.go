package patch

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// The libraries that apply patches take time that grows with the square of what they are given,
// up to minutes for a body that is not too large. A real server gives up waiting for them after a
// minute; here such a patch is refused at once.
const (
	// maxElements is how long a list in a strategic merge patch may be: it is sought through for
	// each of its elements. It is the limit of the operations of a JSON patch, see maxOperations.
	maxElements = 10_000
	// maxNested is how many bytes a merge patch may have, times its depth: each level encodes those
	// below it again.
	maxNested = 128 << 20
)

// affordable refuses a patch that would take too long.
func affordable(kind types.PatchType, body []byte) error {
	depth, longest := shape(body)
	switch {
	case kind == types.StrategicMergePatchType && longest > maxElements:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum elements of a list in a strategic merge patch is %d, got %d", maxElements, longest))
	case kind == types.MergePatchType && depth*len(body) > maxNested:
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"A merge patch of %d bytes may not be nested %d levels deep", len(body), depth))
	}
	return nil
}

// shape is how deep valid JSON is nested, and how many elements its longest list has, if it has
// one of two elements.
func shape(body []byte) (depth, longest int) {
	var open []int // of each list that is open the elements so far, of an object 0
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
