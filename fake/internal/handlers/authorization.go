package handlers

import (
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/fake/internal/rbac"
)

// setUpAuthorization creates the authorizers of the settings. RBAC decides by the state of the watch
// cache. That of a replica can be behind the store.
func (a *API) setUpAuthorization() {
	config := &a.settings.Authorization
	if config.HasMode(authz.ModeRBAC) {
		a.rbac = rbac.New(a.cache.View, a.types.Table())
	}
	a.authorizer = config.NewAuthorizer(a.rbac)
	a.requestAuthorizer = a.authorizer
	if a.authorizer != nil && a.settings.ObserveAuthorization != nil {
		a.requestAuthorizer = authz.Observe(a.authorizer, a.settings.ObserveAuthorization)
	}
}

// Authorizer returns the authorizer of requests, or nil if everything is allowed.
func (a *API) Authorizer() authz.Authorizer { return a.requestAuthorizer }
