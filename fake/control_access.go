package fakeapi

import (
	"cmp"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// getAccess responds with Server.Access, or with that of the client in the parameter client. It is
// text, or JSON for clients that accept it. The parameter format has precedence: text, json, or
// yaml for the smallest manifests.
func (c *controlAPI) getAccess(w http.ResponseWriter, r *http.Request) error {
	report := c.server.Access().Of(r.URL.Query().Get("client"))
	accepted := "text"
	if acceptsJSON(r) {
		accepted = "json"
	}
	switch format := cmp.Or(r.URL.Query().Get("format"), accepted); format {
	case "text":
		return sendText(w, http.StatusOK, "text/plain; charset=utf-8", report.String())
	case "json":
		return sendJSON(w, http.StatusOK, report)
	case "yaml":
		var manifests strings.Builder
		if err := report.WriteManifests(&manifests, "", ""); err != nil {
			return err
		}
		return sendText(w, http.StatusOK, runtime.ContentTypeYAML, manifests.String())
	default:
		return apierrors.NewBadRequest("format " + format + " is none of text, json, yaml")
	}
}
