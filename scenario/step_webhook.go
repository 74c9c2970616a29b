package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/faults"
)

// AdmissionWebhook is an admission webhook of a scenario; see [Webhook].
type AdmissionWebhook struct {
	// Name is a domain name with three parts, such as pods.example.com.
	Name string
	// Kind is the kind of the objects, as in [Ref], whose writes the webhook admits: all operations
	// and no subresources.
	Kind string
	// Ignore is the failurePolicy Ignore, otherwise Fail.
	Ignore bool
	// Timeout is from 1s to 30s in whole seconds. 0 is the default of 10s.
	Timeout time.Duration
	// Answer is what the webhook does: faults.Allow, faults.Deny or faults.Patch, and effects before
	// them, such as faults.Delay.
	Answer []faults.Effect
}

// Webhook registers an admission webhook by a MutatingWebhookConfiguration, and lets a fault rule
// of its name answer in its place. If the rule is cleared, the webhook is down, because its Service
// does not exist. A second step for the name replaces the webhook. Rules for faults.Webhook(name)
// act on its answers. The rule belongs to one server, as those of [Fault].
func Webhook(w AdmissionWebhook) Step {
	w.Answer = slices.Clone(w.Answer)
	return webhook{w}
}

type webhook struct{ AdmissionWebhook }

func (kinds) Webhook() stepKind {
	return stepKind{"webhook NAME KIND [--ignore] [--timeout DURATION] EFFECT, ...", parseWebhook}
}

const (
	ignoreFlag  = "--ignore"
	timeoutFlag = "--timeout"
)

func parseWebhook(a *args) (Step, error) {
	var w AdmissionWebhook
	var err error
	if w.Name, err = a.word("the name of a webhook"); err != nil {
		return nil, err
	}
	if w.Kind, err = a.word("a kind"); err != nil {
		return nil, err
	}
	given := flags{}
	for strings.HasPrefix(strings.TrimSpace(a.rest), "-") {
		name, rest, err := cutWord(a.rest)
		if err != nil {
			return nil, err
		}
		a.rest = rest
		if err := a.flag(string(name), given, []string{ignoreFlag, timeoutFlag + "="}); err != nil {
			return nil, err
		}
	}
	w.Ignore = given[ignoreFlag] != ""
	if text := given[timeoutFlag]; text != "" {
		if w.Timeout, err = parseDuration(text, time.Second); err != nil {
			return nil, err
		}
	}
	rule, err := faults.Parse("when " + faults.Webhook(w.Name).String() + " do " + a.rest)
	if syntax := (*faults.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, errors.New(syntax.Message)
	}
	if err != nil {
		return nil, err
	}
	w.Answer = rule.Do
	return webhook{w}, w.validate()
}

// validate returns an error if the timeout or the answer is not possible.
func (w AdmissionWebhook) validate() error {
	if w.Timeout%time.Second != 0 || w.Timeout < 0 || w.Timeout > 30*time.Second {
		return fmt.Errorf("expected a timeout from 1s to 30s in whole seconds, found %v", w.Timeout)
	}
	return w.rule().Validate()
}

// rule returns the rule that answers in place of the webhook.
func (w AdmissionWebhook) rule() faults.Rule {
	return faults.Rule{Name: w.Name, When: faults.Webhook(w.Name), Do: w.Answer}
}

func (s webhook) String() string {
	ignore, timeout := "", ""
	if s.Ignore {
		ignore = ignoreFlag
	}
	if s.Timeout != 0 {
		timeout = timeoutFlag + " " + s.Timeout.String()
	}
	effects := make([]string, len(s.Answer))
	for i, e := range s.Answer {
		effects[i] = e.String()
	}
	return joinWords("webhook", quote(s.Name), quote(s.Kind), ignore, timeout, strings.Join(effects, ", "))
}

func (s webhook) Run(ctx context.Context, e *Env) error {
	if err := s.validate(); err != nil {
		return err
	}
	mapping, err := e.restMapping(s.Kind)
	if err != nil {
		return err
	}
	set := e.Server().Faults()
	set.Remove(s.Name)
	if _, err := set.Add(s.rule()); err != nil {
		return err
	}
	return s.register(ctx, e, mapping)
}

// register applies the configuration of the webhook for a resource.
func (s webhook) register(ctx context.Context, e *Env, mapping *meta.RESTMapping) error {
	body, err := json.Marshal(s.configuration(mapping.Resource))
	if err != nil {
		return err
	}
	ctx, cancel := e.withRequestTimeout(ctx)
	defer cancel()
	configurations := e.current.dynamic.Resource(admissionregistrationv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations"))
	_, err = configurations.Patch(ctx, s.Name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: stepUserAgent, Force: new(true)})
	return err
}

// configuration returns the configuration of the webhook for a resource.
func (s webhook) configuration(r schema.GroupVersionResource) *admissionregistrationv1.MutatingWebhookConfiguration {
	hook := admissionregistrationv1.MutatingWebhook{
		Name:                    s.Name,
		FailurePolicy:           new(admissionregistrationv1.Fail),
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionregistrationv1.WebhookClientConfig{
			Service: &admissionregistrationv1.ServiceReference{Namespace: defaultNamespace, Name: "webhook"},
		},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{r.Group}, APIVersions: []string{r.Version}, Resources: []string{r.Resource},
			},
		}},
	}
	if s.Ignore {
		hook.FailurePolicy = new(admissionregistrationv1.Ignore)
	}
	if s.Timeout != 0 {
		hook.TimeoutSeconds = new(int32(s.Timeout / time.Second))
	}
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "MutatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: s.Name},
		Webhooks:   []admissionregistrationv1.MutatingWebhook{hook},
	}
}
