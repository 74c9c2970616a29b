package handlers

import (
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/fakeapi/fake/internal/authn"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/authz/node"
	"example.com/fakeapi/fake/internal/rbac"
	"example.com/fakeapi/internal/requestinfo"
)

// setUpAuthorization creates the authorizers of the settings. On a replica RBAC decides by the
// state of its watch cache, which can be behind the store.
func (a *API) setUpAuthorization() {
	config := &a.settings.Authorization
	if config.HasMode(authz.ModeRBAC) {
		a.rbac = rbac.New(a.ownView, a.types.Table())
	}
	a.storedRoles = sync.OnceValue(func() *rbac.Authorizer { return rbac.New(a.store.View, a.types.Table()) })
	var kubelets authorizer.UnconditionalAuthorizer
	if config.HasMode(authz.ModeNode) {
		kubelets = node.New(a.ownView, a.types.Table())
	}
	a.authorizer = config.NewAuthorizer(a.rbac, kubelets)
	a.requestAuthorizer = a.authorizer
	if a.settings.ObserveAuthorization == nil {
		return
	}
	asked := a.authorizer
	if asked == nil { // what a request needs besides its own permission is observed all the same
		asked = authz.AlwaysAllow()
	}
	a.requestAuthorizer = authz.Observe(asked, a.settings.ObserveAuthorization)
}

// Authorizer returns the authorizer of requests, or nil if everything is allowed.
func (a *API) Authorizer() authz.Authorizer {
	if a.authorizer == nil {
		return nil
	}
	return a.requestAuthorizer
}

// authorizeCreate returns the 403 of a user who may update or apply an object that does not exist,
// but may not create it.
func (a *API) authorizeCreate(q *request) error {
	if a.requestAuthorizer == nil {
		return nil
	}
	attributes := createAttributes(q)
	decision, reason, err := a.requestAuthorizer.Authorize(q.r.Context(), attributes)
	switch {
	case decision == authorizer.DecisionAllow:
		return nil
	case err != nil:
		return apierrors.NewInternalError(err)
	}
	return authz.Forbidden(attributes, reason)
}

// authorizeConnection returns the 403 of a user who may get a connection to a pod, but may not
// create it. Clients that connect by a WebSocket send a GET, and those that do by SPDY a POST. Both
// need the permission to create.
func (a *API) authorizeConnection(q *request) error {
	if a.requestAuthorizer == nil || q.info.Verb == requestinfo.Create {
		return nil
	}
	decision, reason, err := a.requestAuthorizer.Authorize(q.r.Context(), createAttributes(q))
	if err == nil && decision != authorizer.DecisionAllow {
		err = apierrors.NewForbidden(q.res.GroupResource(), q.info.Name, errors.New(reason))
	}
	return err
}

// authorizeUnsafeDelete returns the 403 of a user who may delete an object, but may not do so
// without reading it (DL-35).
func (a *API) authorizeUnsafeDelete(q *request) error {
	if a.requestAuthorizer == nil {
		return nil
	}
	attributes := createAttributes(q)
	attributes.Verb, attributes.Path = "unsafe-delete-ignore-read-errors", ""
	decision, reason, err := a.requestAuthorizer.Authorize(q.r.Context(), attributes)
	switch {
	case err != nil:
		err = fmt.Errorf("error while checking permission for %q, %w", attributes.Verb, err)
	case decision == authorizer.DecisionAllow:
		return nil
	default:
		err = fmt.Errorf("not permitted to do %q, reason: %s", attributes.Verb, reason)
	}
	return apierrors.NewForbidden(q.parent.GroupResource(), q.info.Name, err)
}

// createAttributes returns the permission to create what a request is for.
func createAttributes(q *request) authorizer.AttributesRecord {
	return authorizer.AttributesRecord{
		User: authn.NewInfo(authn.UserFrom(q.r.Context())), Verb: "create", ResourceRequest: true, Path: q.info.Path,
		APIGroup: q.info.Group, APIVersion: q.info.Version, Resource: q.info.Resource, Subresource: q.info.Subresource,
		Namespace: q.namespace(), Name: q.info.Name,
	}
}
