package authz

import (
	"context"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Mode is an authorizer of kube-apiserver, as --authorization-mode names it.
type Mode string

// The modes that are supported.
const (
	ModeAlwaysAllow Mode = "AlwaysAllow"
	ModeAlwaysDeny  Mode = "AlwaysDeny"
	ModeRBAC        Mode = "RBAC"
	ModeNode        Mode = "Node"
)

// Config says how requests are authorized. The zero value allows everything.
type Config struct {
	// Custom is asked before those of Modes; nil for none.
	Custom authorizer.UnconditionalAuthorizer
	// Modes are asked in this order, until one allows or denies the request.
	Modes []Mode
}

// IsAlwaysAllow reports whether everything is allowed.
func (c *Config) IsAlwaysAllow() bool {
	return c.Custom == nil && (len(c.Modes) == 0 || c.Modes[0] == ModeAlwaysAllow)
}

// NeedsUsers reports whether a mode decides by the user of a request, or denies it. A function may
// do so, too, and leaves it to the options about authentication.
func (c *Config) NeedsUsers() bool { return len(c.Modes) > 0 && c.Modes[0] != ModeAlwaysAllow }

// HasMode reports whether a mode is one of Modes.
func (c *Config) HasMode(m Mode) bool { return slices.Contains(c.Modes, m) }

// NewAuthorizer returns the authorizer of the configuration, or nil if everything is allowed. rbac
// is that of ModeRBAC, node that of ModeNode. Members of system:masters may do everything. Without
// modes, all users may read PublicPaths, which with ModeRBAC the roles of the bootstrap policy
// allow.
func (c *Config) NewAuthorizer(rbac, node authorizer.UnconditionalAuthorizer) Authorizer {
	if c.IsAlwaysAllow() {
		return nil
	}
	var u union
	if c.Custom != nil {
		u = append(u, c.Custom)
	}
	for _, m := range c.Modes {
		switch m {
		case ModeAlwaysAllow:
			u = append(u, AlwaysAllow())
		case ModeAlwaysDeny:
			u = append(u, AlwaysDeny())
		case ModeRBAC:
			u = append(u, rbac)
		case ModeNode:
			u = append(u, node)
		}
	}
	if len(c.Modes) > 0 {
		return privilegedGroup{u}
	}
	return New(u)
}

// union asks authorizers one after the other, until one allows or denies a request.
type union []authorizer.UnconditionalAuthorizer

func (u union) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	var reasons []string
	var errs []error
	for _, one := range u {
		decision, reason, err := one.Authorize(ctx, a)
		if decision != authorizer.DecisionNoOpinion {
			return decision, reason, err
		}
		if reason != "" {
			reasons = append(reasons, reason)
		}
		errs = append(errs, err)
	}
	return authorizer.DecisionNoOpinion, strings.Join(reasons, "\n"), utilerrors.NewAggregate(errs)
}

// RulesFor implements authorizer.RuleResolver. The rules are those of all authorizers.
func (u union) RulesFor(ctx context.Context, of user.Info, namespace string) (resources []authorizer.ResourceRuleInfo, paths []authorizer.NonResourceRuleInfo, incomplete bool, err error) {
	var errs []error
	for _, one := range u {
		r, p, i, err := resolveRules(ctx, one, of, namespace)
		resources, paths, incomplete = append(resources, r...), append(paths, p...), incomplete || i
		errs = append(errs, err)
	}
	return resources, paths, incomplete, utilerrors.NewAggregate(errs)
}
