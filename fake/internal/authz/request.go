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
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/internal/requestinfo"
)

// AttributesOf returns the attributes of a request of u.
func AttributesOf(u authenticationv1.UserInfo, r *http.Request) authorizer.AttributesRecord {
	info := requestinfo.FromRequest(r)
	a := authorizer.AttributesRecord{User: authn.NewInfo(u), Verb: info.Verb, Path: info.Path}
	if isMalformed(info) {
		return withMalformedPath(a, r)
	}
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

// isMalformed reports whether the path of a request is one that no resource has, but which
// kube-apiserver authorizes as that of a resource: it has empty segments, or the former prefix
// proxy.
func isMalformed(info *requestinfo.RequestInfo) bool {
	return info.Resource == "proxy" || info.Resource == "" && strings.Contains(info.Path, "//")
}

// withMalformedPath returns the attributes a of a request with those of its path in kube-apiserver.
func withMalformedPath(a authorizer.AttributesRecord, r *http.Request) authorizer.AttributesRecord {
	factory := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := factory.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return a
	}
	a.ResourceRequest, a.Verb = true, info.Verb
	a.APIGroup, a.APIVersion, a.Resource, a.Subresource = info.APIGroup, info.APIVersion, info.Resource, info.Subresource
	a.Namespace, a.Name = info.Namespace, info.Name
	return a
}

// VerbAndName returns the verb and the name that authorization uses for a request for a resource.
// The name of a list or a watch is the one that its field selector requires.
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
