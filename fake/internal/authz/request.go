package authz

import (
	"net/http"
	"net/url"
	"strings"

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
	a.Namespace = info.Namespace
	a.Verb, a.Name = VerbAndName(r, info)
	if info.IsWatchPath { // selectors are not reported
		return a
	}
	switch a.Verb {
	case requestinfo.List, requestinfo.Watch, requestinfo.DeleteCollection:
	default:
		return a
	}
	query := r.URL.Query()
	a.FieldSelectorRequirements, a.FieldSelectorParsingErr = parseFieldSelector(query.Get("fieldSelector"))
	a.LabelSelectorRequirements, a.LabelSelectorParsingErr = parseLabelSelector(query.Get("labelSelector"))
	return a
}

// VerbAndName returns the verb and the name that authorization uses for a request for a resource. The
// name of a list or a watch is the one that its field selector requires.
func VerbAndName(r *http.Request, info *requestinfo.RequestInfo) (verb, name string) {
	switch {
	case info.IsWatchPath:
		return requestinfo.Watch, info.Name
	case info.Verb != requestinfo.List && info.Verb != requestinfo.Watch:
		return info.Verb, info.Name
	case !strings.Contains(r.URL.RawQuery, "fieldSelector") && !strings.Contains(r.URL.RawQuery, "%"):
		return info.Verb, "" // without parsing the query
	}
	return info.Verb, selectedName(r.URL.Query())
}

// selectedName returns the name that the field selector of a list or watch requires. It returns ""
// if there is none, or if the query is not valid (AU-09).
func selectedName(query url.Values) string {
	if !query.Has("fieldSelector") {
		return ""
	}
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
