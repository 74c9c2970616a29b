package main

import (
	"context"
	"errors"
	"fmt"

	"example.com/fakeapi/faults"
)

// readFaults reads the fault rules of a file, one per line. An invalid rule is an error, and so is
// a file without rules.
func readFaults(ctx context.Context, path string) ([]faults.Rule, error) {
	refuse := func(err error) ([]faults.Rule, error) { return nil, fmt.Errorf("--faults %s: %w", path, err) }
	text, err := readFile(ctx, path)
	if err != nil {
		return refuse(unwrapPathError(err))
	}
	rules, err := faults.ParseAll(string(text))
	if err != nil {
		return refuse(err)
	}
	if len(rules) == 0 {
		return refuse(errors.New("it contains no fault rule"))
	}
	for _, r := range rules {
		if err := r.Validate(); err != nil {
			return refuse(err)
		}
	}
	return rules, nil
}
