package accesslog

import (
	"strings"
	"unicode/utf8"
)

// trim cuts the texts of an action.
func (a *Action) trim() {
	for _, text := range a.texts() {
		*text = cut(*text)
	}
}

// clone returns a copy that does not keep the memory of the request.
func (a Action) clone() Action {
	for _, text := range a.texts() {
		*text = strings.Clone(*text)
	}
	return a
}

// size returns the size of the texts.
func (a Action) size() (n int) {
	for _, text := range a.texts() {
		n += len(*text)
	}
	return n
}

func (a *Action) texts() [8]*string {
	return [8]*string{&a.User, &a.UserAgent, &a.Verb, &a.APIGroup, &a.Resource, &a.Subresource, &a.Namespace, &a.Path}
}

// cut returns a text, or the beginning of one that is too long.
func cut(text string) string {
	if len(text) <= MaxTextBytes {
		return text
	}
	end := MaxTextBytes
	for end > MaxTextBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
