package authz

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// EscapeMessage escapes the characters of a text that browsers interpret as markup.
func EscapeMessage(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// Forbidden returns the 403 of an action that is not allowed (AU-02, AU-04).
func Forbidden(a authorizer.Attributes, reason string) error {
	message := EscapeMessage(forbiddenMessage(a))
	if reason != "" {
		message += ": " + reason
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.GetAPIGroup(), Resource: a.GetResource()}, a.GetName(), errors.New(message))
}

func forbiddenMessage(a authorizer.Attributes) string {
	if !a.IsResourceRequest() {
		return fmt.Sprintf("User %q cannot %s path %q", a.GetUser().GetName(), a.GetVerb(), a.GetPath())
	}
	resource := a.GetResource()
	if a.GetSubresource() != "" {
		resource += "/" + a.GetSubresource()
	}
	scope := "at the cluster scope"
	if a.GetNamespace() != "" {
		scope = fmt.Sprintf("in the namespace %q", a.GetNamespace())
	}
	return fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", a.GetUser().GetName(), a.GetVerb(), resource, a.GetAPIGroup(), scope)
}
