package conformance

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docWebhookType = "k8s.io/api admissionregistration/v1, comments of ValidatingWebhook and MutatingWebhook"

// invalidWebhook is a change that makes a webhook of a configuration invalid, and the only cause of
// the refusal.
type invalidWebhook struct {
	field  string // of the webhook, which is replaced
	value  any    // nil removes the field
	reason metav1.CauseType
	at     string // path within the webhook, "" if it is field
	text   string
}

// webhookConfigCases returns the cases about configurations that are refused (WH-83 to WH-87).
func webhookConfigCases() []Case {
	const (
		required, invalid = metav1.CauseTypeFieldValueRequired, metav1.CauseTypeFieldValueInvalid
		unsupported       = metav1.CauseTypeFieldValueNotSupported
	)
	refused := func(id, title, why string, changes ...invalidWebhook) Case {
		c := Case{ID: id, Level: Must, Title: title, Why: why, Source: docWebhookType}
		c.check = func(ctx context.Context, s *session) error { return s.checkInvalidWebhooks(ctx, changes) }
		return c
	}
	conditions := func(conditions ...object) any { return conditions }
	condition := func(name, expression string) object { return object{"name": name, "expression": expression} }
	return []Case{
		refused("WH-83", "a matchCondition that is not a boolean expression of CEL, or has no name of its own, is refused", "it could not be evaluated",
			invalidWebhook{"matchConditions", conditions(condition("c", "object.spec.")), invalid, "matchConditions[0].expression", "compilation failed: ERROR: <input>:1:13: Syntax error: no viable alternative at input '.'"},
			invalidWebhook{"matchConditions", conditions(condition("c", "absent == 1")), invalid, "matchConditions[0].expression", "undeclared reference to 'absent'"},
			invalidWebhook{"matchConditions", conditions(condition("c", "request.absent == 'a'")), invalid, "matchConditions[0].expression", "undefined field 'absent'"},
			invalidWebhook{"matchConditions", conditions(condition("c", "'text'")), invalid, "matchConditions[0].expression", "must evaluate to bool but got string"},
			invalidWebhook{"matchConditions", conditions(condition("c", "")), required, "matchConditions[0].expression", ""},
			invalidWebhook{"matchConditions", conditions(condition("", "true")), required, "matchConditions[0].name", ""},
			invalidWebhook{"matchConditions", conditions(condition("c", "true"), condition("c", "true")), metav1.CauseTypeFieldValueDuplicate, "matchConditions[1].name", `"c"`}),
		refused("WH-84", "the name of a webhook is a domain of three or more segments", "messages identify webhooks by it",
			invalidWebhook{"name", "a.com", invalid, "", "should be a domain with at least three segments separated by dots"},
			invalidWebhook{"name", "A.Example.Com", invalid, "", "a lowercase RFC 1123 subdomain must consist of"},
			invalidWebhook{"name", "", required, "", ""}),
		refused("WH-85", "timeoutSeconds is from 1 to 30; policies have known values; admissionReviewVersions are known and not repeated", "the server must not guess",
			invalidWebhook{"timeoutSeconds", 0, invalid, "", "the timeout value must be between 1 and 30 seconds"},
			invalidWebhook{"timeoutSeconds", 31, invalid, "", "the timeout value must be between 1 and 30 seconds"},
			invalidWebhook{"failurePolicy", "Maybe", unsupported, "", `supported values: "Fail", "Ignore"`},
			invalidWebhook{"matchPolicy", "Roughly", unsupported, "", `supported values: "Equivalent", "Exact"`},
			invalidWebhook{"sideEffects", nil, required, "", "must specify one of None, NoneOnDryRun"},
			invalidWebhook{"admissionReviewVersions", nil, required, "", "must specify one of v1, v1beta1"},
			invalidWebhook{"admissionReviewVersions", []string{"v1", "v1"}, invalid, "admissionReviewVersions[1]", "duplicate version"}),
		refused("WH-86", "a URL has no query, no fragment and no user, and a Service a valid port and a path without empty segments", "the server could not call it as meant",
			invalidWebhook{"clientConfig", object{"url": "https://example.com/x?y=1"}, invalid, "clientConfig.url", "query parameters are not permitted in the URL"},
			invalidWebhook{"clientConfig", object{"url": "https://example.com/x#y"}, invalid, "clientConfig.url", "fragments are not permitted in the URL"},
			invalidWebhook{"clientConfig", object{"url": "https://me@example.com/x"}, invalid, "clientConfig.url", "user information is not permitted in the URL"},
			invalidWebhook{"clientConfig", object{"url": "https://example.com/x", "service": object{"name": "s", "namespace": "n"}}, required, "clientConfig", "exactly one of url or service is required"},
			invalidWebhook{"clientConfig", object{"service": object{"name": "s", "namespace": "n", "port": 65536}}, invalid, "clientConfig.service.port", "must be between 1 and 65535, inclusive"},
			invalidWebhook{"clientConfig", object{"service": object{"name": "s", "namespace": "n", "path": "/a//b"}}, invalid, "clientConfig.service.path", "segment[1] may not be empty"}),
		{
			ID: "WH-87", Level: Must, Title: "webhooks of one configuration have different names; reinvocationPolicy is Never or IfNeeded",
			Why: "the server must not guess", Source: docWebhookType,
			check: func(ctx context.Context, s *session) error {
				one, two, again := unusedWebhook(), unusedWebhook(), unusedWebhook().with("reinvocationPolicy", "Always")
				duplicate := cause(metav1.CauseTypeFieldValueDuplicate, "webhooks[1].name", `"a.example.com"`)
				for _, resource := range []string{validatingWebhooks, mutatingWebhooks} {
					if err := s.expectInvalidConfig(ctx, resource, []object{one, two}, duplicate); err != nil {
						return err
					}
				}
				return s.expectInvalidConfig(ctx, mutatingWebhooks, []object{again}, cause(unsupported, "webhooks[0].reinvocationPolicy", `supported values: "IfNeeded", "Never"`))
			},
		},
	}
}

// unusedWebhook returns a webhook for dry runs.
func unusedWebhook() object {
	return object{
		"name": "a.example.com", "admissionReviewVersions": []string{"v1"}, "sideEffects": "None", "clientConfig": object{"url": "https://example.com/x"},
		"rules": []object{rule("", "v1", "configmaps", "CREATE")},
	}
}

// checkInvalidWebhooks expects that each change makes configurations of both kinds invalid.
func (s *session) checkInvalidWebhooks(ctx context.Context, changes []invalidWebhook) error {
	if err := s.skipUnlessServed(ctx, admissionVersion, validatingWebhooks); err != nil {
		return err
	}
	for _, resource := range []string{validatingWebhooks, mutatingWebhooks} {
		valid := s.postConfig(resource, "conformance-"+s.run.id, unusedWebhook()).withQuery("dryRun=All")
		if err := s.expect(ctx, valid, code(http.StatusCreated)); err != nil {
			return err
		}
		for _, one := range changes {
			hook, at := unusedWebhook(), one.at
			if at == "" {
				at = one.field
			}
			if hook[one.field] = one.value; one.value == nil {
				delete(hook, one.field)
			}
			if err := s.expectInvalidConfig(ctx, resource, []object{hook}, cause(one.reason, "webhooks[0]."+at, one.text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// expectInvalidConfig expects that a configuration with these webhooks is refused with one cause.
func (s *session) expectInvalidConfig(ctx context.Context, resource string, hooks []object, want metav1.StatusCause) error {
	name := "conformance-" + s.run.id
	refusal := collection{group: admissionGroup, kind: configKind(resource)}.invalidField(name, want)
	return s.expect(ctx, s.postConfig(resource, name, hooks...).withQuery("dryRun=All"), refusal.check)
}
