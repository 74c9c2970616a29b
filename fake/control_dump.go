package fakeapi

import "net/http"

// getDump responds with Server.Dump.
func (c *controlAPI) getDump(w http.ResponseWriter, _ *http.Request) error {
	text, err := c.server.Dump()
	if err != nil {
		return err
	}
	return sendText(w, http.StatusOK, "application/yaml", text)
}
