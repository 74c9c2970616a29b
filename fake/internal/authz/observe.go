package authz

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Observer is called with each decision of an authorizer about a request, in its context. It may be
// called by several goroutines.
type Observer func(ctx context.Context, a authorizer.Attributes, decision authorizer.Decision, reason string)

// Observe returns an authorizer that calls observe with each decision of a.
func Observe(a Authorizer, observe Observer) Authorizer { return observed{a, observe} }

type observed struct {
	Authorizer
	observe Observer
}

func (o observed) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	decision, reason, err := o.Authorizer.Authorize(ctx, a)
	if held, ok := ctx.Value(heldKey{}).(*HeldDecisions); ok {
		held.decisions = append(held.decisions, heldDecision{decision, func() { o.observe(ctx, a, decision, reason) }})
	} else {
		o.observe(ctx, a, decision, reason)
	}
	return decision, reason, err
}

// HeldDecisions are decisions that are not observed yet. A check that tries several permissions, of
// which one is enough, holds them, so that a denial is not observed if another permission is
// allowed. They are not safe for concurrent use.
type HeldDecisions struct{ decisions []heldDecision }

type heldDecision struct {
	decision authorizer.Decision
	observe  func()
}

type heldKey struct{}

// HoldDecisions returns a context in which decisions are held.
func HoldDecisions(ctx context.Context) (context.Context, *HeldDecisions) {
	held := &HeldDecisions{}
	return context.WithValue(ctx, heldKey{}, held), held
}

// ObserveAllowed observes the decisions that allow something, and drops the others.
func (h *HeldDecisions) ObserveAllowed() {
	for _, d := range h.decisions {
		if d.decision == authorizer.DecisionAllow {
			d.observe()
		}
	}
}

// ObserveAll observes all decisions.
func (h *HeldDecisions) ObserveAll() {
	for _, d := range h.decisions {
		d.observe()
	}
}
