// Package authz decides who may do what: it reads a request as the attributes that an
// authorizer is asked about, words what comes of a denial, and finds out as whom a request
// that impersonates somebody acts.
package authz

import (
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Attributes are what an authorizer is told of an action: that of a request, or one that
// an access review asks about.
type Attributes struct {
	// User is who wants to act.
	User authenticationv1.UserInfo
	// Verb is that of the API ("list", "deletecollection", "impersonate") for a resource, and
	// the method in lower case for any other path. A review may ask for "*".
	Verb string

	// Resource is the plural, "" for what is no resource. Group is "" for the core group;
	// Version is "*" in a review that names none.
	Group, Version, Resource, Subresource string
	// Namespace is "" at the cluster scope and across all namespaces.
	Namespace string
	// Name is "" for a collection and for a create. A list or watch of one
	// metadata.name has that name (AU-09).
	Name string
	// FieldSelector and LabelSelector narrow a list, watch or deletecollection. Where one of
	// them does not parse, it is nil and the error beside it tells why.
	FieldSelector                          fields.Requirements
	LabelSelector                          labels.Requirements
	FieldSelectorError, LabelSelectorError error

	// Path is that of the request, "" in a review of a resource.
	Path string
	// NonResource tells that Path is what is asked for.
	NonResource bool
}

// Decision is what an authorizer says.
type Decision struct {
	verdict verdict
	reason  string
	err     error
}

type verdict uint8

const (
	noOpinion verdict = iota
	allowed
	denied
)

// Allow lets the user act. The reason is for access reviews; "" is for none.
func Allow(reason string) Decision { return Decision{verdict: allowed, reason: reason} }

// Deny keeps the user from acting, for a reason that is told, unless it is "".
func Deny(reason string) Decision { return Decision{verdict: denied, reason: reason} }

// NoOpinion leaves it to others to allow it. As there are none, the user may not act; a
// review tells it apart from Deny.
func NoOpinion(reason string) Decision { return Decision{reason: reason} }

// WithError is the same decision of an authorizer that had a problem. A request that is not
// allowed is then answered 500 with the error (AU-05); a review tells it.
func (d Decision) WithError(err error) Decision {
	d.err = err
	return d
}

// Allowed reports whether the user may act.
func (d Decision) Allowed() bool { return d.verdict == allowed }

// Denied reports whether the user was kept from it, rather than allowed by nobody.
func (d Decision) Denied() bool { return d.verdict == denied }

// Reason is why, "" if nobody said so.
func (d Decision) Reason() string { return d.reason }

// Err is what went wrong, nil if nothing did.
func (d Decision) Err() error { return d.err }

// Authorizer decides.
type Authorizer interface {
	// Authorize decides about one action.
	Authorize(Attributes) Decision
	// Rules tell what a user may do in a namespace, as far as that can be told.
	Rules(user authenticationv1.UserInfo, namespace string) authorizationv1.SubjectRulesReviewStatus
}

// SystemMasters is the group that may do everything, whatever an authorizer says.
const SystemMasters = "system:masters"

// AlwaysAllow is the authorizer that allows everything to everybody.
func AlwaysAllow() Authorizer { return alwaysAllow{} }

type alwaysAllow struct{}

func (alwaysAllow) Authorize(Attributes) Decision { return Allow("") }

func (alwaysAllow) Rules(authenticationv1.UserInfo, string) authorizationv1.SubjectRulesReviewStatus {
	all := []string{"*"}
	return authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
		NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
	}
}

// PublicPaths are what a cluster tells everybody (ClusterRole system:public-info-viewer).
func PublicPaths() []string {
	return []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}
}

// FromFunc is the authorizer that asks a function, but for what is always allowed: everything to
// Masters, and to read the OpenPaths.
func FromFunc(decide func(Attributes) Decision) Authorizer { return funcAuthorizer(decide) }

type funcAuthorizer func(Attributes) Decision

func (decide funcAuthorizer) Authorize(a Attributes) Decision {
	switch {
	case slices.Contains(a.User.Groups, SystemMasters):
		return Allow("")
	case a.NonResource && a.Verb == "get" && slices.Contains(PublicPaths(), a.Path):
		return Allow("")
	}
	return decide(a)
}

func (decide funcAuthorizer) Rules(user authenticationv1.UserInfo, namespace string) authorizationv1.SubjectRulesReviewStatus {
	if slices.Contains(user.Groups, SystemMasters) {
		return AlwaysAllow().Rules(user, namespace)
	}
	return authorizationv1.SubjectRulesReviewStatus{
		ResourceRules: []authorizationv1.ResourceRule{},
		NonResourceRules: []authorizationv1.NonResourceRule{
			{Verbs: []string{"get"}, NonResourceURLs: PublicPaths()},
		},
		Incomplete:      true,
		EvaluationError: "the authorizer is a function, which does not tell its rules",
	}
}
