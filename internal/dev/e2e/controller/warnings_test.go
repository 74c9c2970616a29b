package controller_test

import "context"

// collector keeps the warnings that a server sends. One request at a time.
type collector struct{ texts []string }

func (c *collector) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code == 299 {
		c.texts = append(c.texts, text)
	}
}
