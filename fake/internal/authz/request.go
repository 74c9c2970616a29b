package authz

import (
	"net/http"
	"net/url"

	authenticationv1 "k8s.io/api/authentication/v1"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/fakeapi/internal/requestinfo"
)

// AttributesOf returns the attributes of a request of user.
func AttributesOf(user authenticationv1.UserInfo, r *http.Request) Attributes {
	t := requestinfo.FromRequest(r)
	a := Attributes{User: user, Verb: t.Verb, Path: t.Path}
	if !t.IsResourceRequest() {
		a.NonResource = true
		return a
	}
	a.Group, a.Version, a.Resource, a.Subresource = t.Group, t.Version, t.Resource, t.Subresource
	a.Namespace, a.Name = t.Namespace, t.Name
	if t.IsWatchPath { // which supports no selectors consistently
		a.Verb = requestinfo.Watch
		return a
	}
	query := r.URL.Query()
	switch a.Verb {
	case requestinfo.List, requestinfo.Watch:
		a.Name = selectedName(query)
	case requestinfo.DeleteCollection:
	default:
		return a
	}
	a.selectFields(query.Get("fieldSelector"))
	a.selectLabels(query.Get("labelSelector"))
	return a
}

// selectedName returns the name that the field selector of a list or watch requires. It returns ""
// if there is none, or if the query is not valid (AU-09).
func selectedName(query url.Values) string {
	var opts metainternal.ListOptions
	if err := metascheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, &opts); err != nil {
		return ""
	}
	return requestinfo.SelectedName(query.Get("fieldSelector"))
}

func (a *Attributes) selectFields(text string) {
	if text == "" {
		return
	}
	selector, err := fields.ParseSelector(text)
	if err != nil {
		a.FieldSelectorError = err
		return
	}
	a.FieldSelector = selector.Requirements()
}

func (a *Attributes) selectLabels(text string) {
	if text == "" {
		return
	}
	selector, err := labels.Parse(text)
	if err != nil {
		a.LabelSelectorError = err
		return
	}
	a.LabelSelector, _ = selector.Requirements()
}
