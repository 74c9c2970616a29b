package controller_test

import "context"

// warningCollector keeps the warnings that a server sends. One request at a time.
type warningCollector struct{ texts []string }

func (c *warningCollector) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code == 299 {
		c.texts = append(c.texts, text)
	}
}
