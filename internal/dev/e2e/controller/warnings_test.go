package controller_test

import "context"

// warningCollector collects the warnings that the server sends. It is not safe for concurrent
// requests.
type warningCollector struct{ texts []string }

func (c *warningCollector) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code == 299 {
		c.texts = append(c.texts, text)
	}
}
