package builtintypes

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func (c cause) String() string {
	return fmt.Sprintf("%s: %s: %s%s", c.Field, c.Reason, c.Message, c.MessageContains)
}

// matches reports whether got is a cause that c describes.
func (c cause) matches(got cause) bool {
	if c.Reason != got.Reason || !isLike(c.Field, got.Field) {
		return false
	}
	if c.MessageContains != "" {
		return strings.Contains(got.Message, c.MessageContains)
	}
	return isLike(c.Message, got.Message)
}

// isLike reports whether a text equals a pattern, in which $any stands for any text.
func isLike(pattern, text string) bool {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\$any`, ".*")
	return regexp.MustCompile(`(?s)\A` + quoted + `\z`).MatchString(text)
}

// compareStatus returns how the Status of a refused request differs from an expectation. It
// compares the causes, in any order, if the expectation has some.
func (s symbols) compareStatus(want expectation, response object) (differences []string) {
	if want.Reason != "" && response["reason"] != want.Reason {
		differences = append(differences, fmt.Sprintf("reason %v, want %s", response["reason"], want.Reason))
	}
	if len(want.Causes) == 0 {
		return differences
	}
	left, err := causesOf(response)
	if err != nil {
		return append(differences, err.Error())
	}
	for _, c := range want.Causes {
		c.Field, c.Message, c.MessageContains = s.expand(c.Field), s.expand(c.Message), s.expand(c.MessageContains)
		if i := slices.IndexFunc(left, c.matches); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			differences = append(differences, "missing cause "+c.String())
		}
	}
	for _, c := range left {
		differences = append(differences, "cause "+c.String())
	}
	return differences
}

// causesOf returns the details.causes of a Status.
func causesOf(status object) (causes []cause, err error) {
	data, err := json.Marshal(lookup(status, []string{"details", "causes"}))
	if err == nil {
		err = json.Unmarshal(data, &causes)
	}
	return causes, err
}
