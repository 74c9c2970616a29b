package fakeapi

import (
	"context"
	"errors"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/metrics"
	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/internal/requestinfo"
)

// observeAdmission counts a decision of a webhook or a policy, and records it in the timeline. ctx
// is that of the request.
func (s *Server) observeAdmission(ctx context.Context, d admission.Decision) {
	switch d.Plugin {
	case "MutatingAdmissionWebhook":
		s.metrics.RecordWebhook(webhookCall(ctx, d, "admit"))
	case "ValidatingAdmissionWebhook":
		s.metrics.RecordWebhook(webhookCall(ctx, d, "validating"))
	case "MutatingAdmissionPolicy":
		if d.ErrorType != "" { // it is an evaluation, not an error of the configuration
			s.metrics.RecordMutatingPolicy(policyCheck(d))
		}
	case "ValidatingAdmissionPolicy":
		if action := enforcementAction(d.Outcome); d.ErrorType != "" && action != "" {
			s.metrics.RecordValidatingPolicy(policyCheck(d), action)
		}
	}
	if s.opts.timeline {
		s.recorder.AddDecision(ctx, timelineDecision(d), requestinfo.RequestInfo{
			Group: d.Resource.Group, Resource: d.Resource.Resource, Subresource: d.Subresource, Namespace: d.Namespace, Name: d.ObjectName,
		})
	}
}

// webhookCall returns what the metrics count. A call that ended because the request was canceled is
// no failure of the webhook.
func webhookCall(ctx context.Context, d admission.Decision, kind string) metrics.WebhookCall {
	call := metrics.WebhookCall{
		Name: d.Name, Type: kind, Operation: d.Operation, Duration: d.Duration, Code: d.Code,
		Rejected: d.Outcome == admission.Denied || d.Outcome == admission.Failed, ErrorType: d.ErrorType,
	}
	switch {
	case d.Outcome != admission.Denied && errors.Is(ctx.Err(), context.Canceled):
		call.ErrorType = ""
	case d.Outcome == admission.Ignored:
		call.FailedOpen = true
	}
	return call
}

func policyCheck(d admission.Decision) metrics.PolicyCheck {
	return metrics.PolicyCheck{Policy: d.Name, Binding: d.Configuration, ErrorType: d.ErrorType, Duration: d.Duration}
}

// enforcementAction returns the label of the outcome of a validating policy, or "" for a write that
// is simply allowed, which is not counted.
func enforcementAction(outcome string) string {
	switch outcome {
	case admission.Ignored:
		return "allow"
	case admission.Denied, admission.Failed:
		return "deny"
	case admission.Warned:
		return "warn"
	case admission.Audited:
		return "audit"
	}
	return ""
}

// timelineDecision returns a decision in the form of the timeline.
func timelineDecision(d admission.Decision) timeline.AdmissionDecision {
	t := timeline.AdmissionDecision{
		Begin: d.Begin, Duration: d.Duration, Plugin: d.Plugin, Configuration: d.Configuration, Name: d.Name, Operation: d.Operation,
		Reinvoked: d.Reinvoked, Outcome: d.Outcome, Code: d.Code, Message: d.Message, Warnings: d.Warnings, AuditAnnotations: d.AuditAnnotations,
	}
	for _, c := range d.Changes {
		t.Changes = append(t.Changes, timeline.AdmissionChange(c))
	}
	return t
}
