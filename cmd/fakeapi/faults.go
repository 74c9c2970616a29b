package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"example.com/fakeapi/faults"
)

// readFaults returns the fault rules of the flag --faults: the rules themselves, separated as in
// FAKEAPI_FAULTS, or the path of a file with one per line. An invalid rule is an error, and so is a
// file without rules.
func readFaults(ctx context.Context, value string) ([]faults.Rule, error) {
	refuse := func(err error) ([]faults.Rule, error) { return nil, fmt.Errorf("--faults %s: %w", value, err) }
	given, noRules := faults.ParseText(value)
	if noRules == nil && len(given) > 0 {
		return given, nil
	}
	text, err := readFile(ctx, value)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(value, " ()") { // no name of a file
		return refuse(noRules)
	}
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
