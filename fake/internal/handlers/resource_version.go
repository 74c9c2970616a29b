package handlers

import (
	"fmt"
	"strconv"

	"example.com/fakeapi/memstore"
)

// parseRevision reads a resourceVersion; "" is 0 like "0".
func parseRevision(s string) (memstore.Revision, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", s, err)
	}
	return memstore.Revision(n), nil
}
