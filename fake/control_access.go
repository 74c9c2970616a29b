package fakeapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// getAccess responds with Server.Access, or with the part of the parameter client. It is text, or for
// clients that accept it JSON. The parameter format, text or json, has precedence.
func (c *controlAPI) getAccess(w http.ResponseWriter, r *http.Request) error {
	report := c.server.Access().Of(r.URL.Query().Get("client"))
	byHeader := "text"
	if strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeJSON) {
		byHeader = "json"
	}
	switch format := cmp.Or(r.URL.Query().Get("format"), byHeader); format {
	case "text":
		return sendText(w, http.StatusOK, "text/plain; charset=utf-8", report.String())
	case "json":
		body, err := json.Marshal(report)
		if err != nil {
			return err
		}
		return sendText(w, http.StatusOK, runtime.ContentTypeJSON, string(body)+"\n")
	default:
		return apierrors.NewBadRequest("format " + format + " is neither text nor json")
	}
}
