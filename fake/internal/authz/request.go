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
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/internal/requestinfo"
)

// AttributesOf returns the attributes of a request of u.
func AttributesOf(u authenticationv1.UserInfo, r *http.Request) authorizer.AttributesRecord {
	info := requestinfo.FromRequest(r)
	a := authorizer.AttributesRecord{User: authn.NewInfo(u), Verb: info.Verb, Path: info.Path}
	if !info.IsResourceRequest() {
		return a
	}
	a.ResourceRequest = true
	a.APIGroup, a.APIVersion, a.Resource, a.Subresource = info.Group, info.Version, info.Resource, info.Subresource
	a.Namespace, a.Name = info.Namespace, info.Name
	if info.IsWatchPath { // selectors are not reported
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
	a.FieldSelectorRequirements, a.FieldSelectorParsingErr = parseFieldSelector(query.Get("fieldSelector"))
	a.LabelSelectorRequirements, a.LabelSelectorParsingErr = parseLabelSelector(query.Get("labelSelector"))
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

func parseFieldSelector(text string) (fields.Requirements, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return nil, err
	}
	return selector.Requirements(), nil
}

func parseLabelSelector(text string) (labels.Requirements, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, err
	}
	requirements, _ := selector.Requirements()
	return requirements, nil
}
