package conformance

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds of admission policies. Their bindings have the same name with the suffix Binding.
const (
	validatingPolicy = "ValidatingAdmissionPolicy"
	mutatingPolicy   = "MutatingAdmissionPolicy"
)

const (
	admissionGroup   = "admissionregistration.k8s.io"
	admissionVersion = admissionGroup + "/v1"
)

// policyLabel is the label that policies of a case select by. Its value is the case's namespace.
const policyLabel = "conformance.example.com/policies"

// policiesPath returns the path of the policies of a kind.
func policiesPath(kind string) string {
	return "/apis/" + admissionVersion + "/" + strings.ToLower(strings.TrimSuffix(kind, "y")) + "ies"
}

// policyBindingsPath returns the path of the bindings of policies of a kind.
func policyBindingsPath(kind string) string {
	return "/apis/" + admissionVersion + "/" + strings.ToLower(kind) + "bindings"
}

// admission is the ConfigMaps of a new namespace for cases about admission policies. Policies
// select the namespace by a label of its own.
type admission struct {
	collection
	changed map[string]bool // kinds of policies that have changed since the last wait
	marks   int             // number of marker policies of the case, for their names
}

// newAdmission returns the ConfigMaps of a new namespace with the label.
func (s *session) newAdmission(ctx context.Context) (*admission, error) {
	name, body := s.nameNewNamespace()
	c := configMapsIn(name)
	c.s = s
	return &admission{collection: c, changed: map[string]bool{}},
		s.expect(withSetup(ctx), post("/api/v1/namespaces", body.withLabel(policyLabel, name)), code(http.StatusCreated))
}

// name returns the name of a policy or another cluster-scoped object of the case.
func (a *admission) name(suffix string) string { return a.namespace + "-" + suffix }

// selector selects by the label.
func (a *admission) selector() object {
	return object{"matchLabels": object{policyLabel: a.namespace}}
}

// of returns the objects of another type in the same namespace.
func (a *admission) of(c collection) collection {
	c.s, c.namespace = a.s, a.namespace
	return c
}

// clusterRoles returns the type of the cluster-scoped objects in cases, which are created in dry
// runs only.
func (a *admission) clusterRoles() collection {
	const group = "rbac.authorization.k8s.io"
	return collection{s: a.s, root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "ClusterRole", resource: "clusterroles"}
}

// create returns a create of a ConfigMap with data.
func (a *admission) create(name string, data ...string) call {
	return post(a.path(), a.object(name).withData(data...))
}

// try returns a dry run of create.
func (a *admission) try(name string, data ...string) call {
	return a.dryRunCreate(a.object(name).withData(data...))
}

// tryLabeled returns a dry run of a create of a ConfigMap with a label.
func (a *admission) tryLabeled(name, key, value string) call {
	return a.dryRunCreate(a.object(name).withLabel(key, value))
}

// policy is a policy to create, with its bindings.
type policy struct {
	kind, name string
	spec       object
	bindings   []object // name and spec
}

// These functions return parts of policies.

func valid(expression string) object { return object{"expression": expression} }

// invalid returns a validation that always fails, with a message in CEL.
func invalid(message string) object {
	return object{"expression": "false", "messageExpression": message}
}

func variable(name, expression string) object {
	return object{"name": name, "expression": expression}
}

// resourceRule returns a rule for operations on resources, in one version.
func resourceRule(group, version string, resources, operations []string) object {
	return object{"apiGroups": []string{group}, "apiVersions": []string{version}, "resources": resources, "operations": operations}
}

// ruleFor returns a rule about writes to a collection.
func ruleFor(c collection, operations ...string) object {
	if operations == nil {
		operations = []string{"CREATE", "UPDATE"}
	}
	version := c.apiVersion[strings.LastIndex(c.apiVersion, "/")+1:]
	return resourceRule(c.group, version, []string{c.resource}, operations)
}

func jsonPatchMutation(expression string) object {
	return object{"patchType": "JSONPatch", "jsonPatch": object{"expression": expression}}
}

func applyMutation(expression string) object {
	return object{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": expression}}
}

// constraints returns match constraints with rules for the objects of the namespace.
func (a *admission) constraints(rules ...object) object {
	return object{"namespaceSelector": a.selector(), "resourceRules": rules}
}

// validating returns a policy for the ConfigMaps, with a binding of the same name that denies.
func (a *admission) validating(name string, validations ...object) *policy {
	return &policy{
		kind: validatingPolicy, name: a.name(name),
		spec:     object{"matchConstraints": a.constraints(ruleFor(a.collection)), "validations": validations},
		bindings: []object{a.binding(validatingPolicy, name, name, "Deny")},
	}
}

// mutating returns a policy for the ConfigMaps, with a binding of the same name.
func (a *admission) mutating(name string, mutations ...object) *policy {
	return &policy{
		kind: mutatingPolicy, name: a.name(name),
		spec:     object{"matchConstraints": a.constraints(ruleFor(a.collection)), "mutations": mutations, "reinvocationPolicy": "Never"},
		bindings: []object{a.binding(mutatingPolicy, name, name)},
	}
}

// binding returns the body of a binding of a policy.
func (a *admission) binding(kind, name, policy string, actions ...string) object {
	spec := object{"policyName": a.name(policy)}
	if len(actions) > 0 {
		spec["validationActions"] = actions
	}
	return newObject(admissionVersion, kind+"Binding", a.name(name)).with("spec", spec)
}

// with sets a field of the spec.
func (q *policy) with(field string, value any) *policy {
	q.spec[field] = value
	return q
}

// match sets a field of the constraints.
func (q *policy) match(field string, value any) *policy {
	q.spec["matchConstraints"].(object)[field] = value
	return q
}

// on sets the rules of the constraints.
func (q *policy) on(rules ...object) *policy { return q.match("resourceRules", rules) }

// actions sets the actions of the binding.
func (q *policy) actions(actions ...string) *policy { return q.bind("validationActions", actions) }

// bind sets a field of the spec of the binding.
func (q *policy) bind(field string, value any) *policy {
	q.bindings[0]["spec"].(object)[field] = value
	return q
}

// params sets the kind of the parameters, and the reference of the binding to them.
func (q *policy) params(apiVersion, kind string, ref object) *policy {
	return q.with("paramKind", object{"apiVersion": apiVersion, "kind": kind}).bind("paramRef", ref)
}

// unbound removes the bindings.
func (q *policy) unbound() *policy {
	q.bindings = nil
	return q
}

// body returns the body of the policy.
func (q *policy) body() object {
	return newObject(admissionVersion, q.kind, q.name).with("spec", q.spec)
}

// path returns the path of the policy.
func (q *policy) path() string { return policiesPath(q.kind) + "/" + q.name }

// bindingPath returns the path of the first binding.
func (q *policy) bindingPath() string {
	return policyBindingsPath(q.kind) + "/" + q.bindings[0]["metadata"].(object)["name"].(string)
}

// install creates policies and their bindings, and waits until they are effective.
func (a *admission) install(ctx context.Context, policies ...*policy) error {
	for _, q := range policies {
		if err := a.s.expect(ctx, post(policiesPath(q.kind), q.body()), code(http.StatusCreated)); err != nil {
			return err
		}
		for _, b := range q.bindings {
			if err := a.s.expect(ctx, post(policyBindingsPath(q.kind), b), code(http.StatusCreated)); err != nil {
				return err
			}
		}
		a.changed[q.kind] = true
	}
	return a.settle(ctx)
}

// change changes policies or bindings of a kind, and waits until the changes are effective.
func (a *admission) change(ctx context.Context, kind string, changes ...call) error {
	for _, one := range changes {
		if err := a.s.expect(ctx, one, code(http.StatusOK, http.StatusCreated)); err != nil {
			return err
		}
	}
	a.changed[kind] = true
	return a.settle(ctx)
}

// check installs policies and sends requests.
func (a *admission) check(ctx context.Context, policies []*policy, requests ...exchange) error {
	if err := a.install(ctx, policies...); err != nil {
		return err
	}
	return a.s.expectAll(ctx, requests...)
}

// settleTimeout limits how long a change of a policy may take to become effective, which is about
// one second on kube-apiserver.
const settleTimeout = 15 * time.Second

// settle waits until all changes of policies are effective. It creates a marker, which is another
// policy for another namespace, and waits for its effect. A server that delays policies observes
// them in the order of their changes.
func (a *admission) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(withSetup(ctx), settleTimeout, fmt.Errorf("policies have no effect after %v", settleTimeout))
	defer cancel()
	for _, kind := range slices.Sorted(maps.Keys(a.changed)) {
		if err := a.settleKind(ctx, kind); err != nil {
			return fmt.Errorf("waiting for the effect of policies: %w", err)
		}
	}
	clear(a.changed)
	return nil
}

// settleKind waits until all changes of policies of a kind are effective.
func (a *admission) settleKind(ctx context.Context, kind string) error {
	other, err := a.s.run.markers(ctx)
	if err != nil {
		return err
	}
	a.marks++
	mark := fmt.Sprintf("marker-%s-%d", a.s.name, a.marks)
	marker, expected := other.validating(mark, invalid("'marked'")).actions("Warn"), expectation(hasWarning(mark))
	if kind == mutatingPolicy {
		marker = other.mutating(mark, applyMutation(fmt.Sprintf("Object{metadata: Object.metadata{annotations: {'%s': 'marked'}}}", mark)))
		expected = value("marked", "metadata", "annotations", mark)
	}
	for _, create := range []call{post(policiesPath(kind), marker.body()), post(policyBindingsPath(kind), marker.bindings[0])} {
		if err := a.s.expect(ctx, create, code(http.StatusCreated)); err != nil {
			return err
		}
	}
	return a.s.waitFor(ctx, other.try("probe"), code(http.StatusCreated), expected)
}

// markers returns the ConfigMaps of the namespace of markers. The first call of a run creates it.
func (r *run) markers(ctx context.Context) (*admission, error) {
	return r.markerNamespace.get(ctx, func(ctx context.Context) (*admission, error) { return r.sharedSession("markers").newAdmission(ctx) })
}

// denied is the failure of a write of a ConfigMap that a policy denies. The binding has the name of
// the policy.
func (a *admission) denied(name, policy, text string) failure {
	return a.deniedIn(a.collection, name, policy, text)
}

// deniedIn is like denied for an object of another collection.
func (a *admission) deniedIn(c collection, name, policy, text string) failure {
	return a.deniedBy(c, name, fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s'", a.name(policy), a.name(policy)), text)
}

// deniedBy is like deniedIn for any policy and binding.
func (a *admission) deniedBy(c collection, name, by, text string) failure {
	text = by + " denied request: " + text
	return failure{
		code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
		message: fmt.Sprintf("%s %q is forbidden: %s", c.groupResource(), name, text),
		details: c.statusDetails(name), causes: []metav1.StatusCause{{Message: text}},
	}
}

// mutationFailed is the failure of a write of a ConfigMap that a mutating policy denies with a
// message that begins with a text.
func (a *admission) mutationFailed(name, policy, text string) failure {
	text = fmt.Sprintf("policy '%s' with binding '%s' denied request: %s", a.name(policy), a.name(policy), text)
	return failure{
		code: http.StatusForbidden, reason: metav1.StatusReasonInvalid, contains: text,
		details: a.statusDetails(name), causes: []metav1.StatusCause{{Message: text}},
	}
}

// withReason returns the same failure with another code and reason.
func (want failure) withReason(code int, reason metav1.StatusReason) failure {
	want.code, want.reason = code, reason
	return want
}

// warning returns the warning of a policy whose binding has the same name.
func (a *admission) warning(policy, text string) string {
	return fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", a.name(policy), a.name(policy), text)
}

// admissionCheck checks a server for a case about admission policies.
type admissionCheck func(ctx context.Context, a *admission) error

// policyRules returns a function that returns cases about the policies of a kind.
func policyRules(kind string, level Level, source string) func(id, title, why string, check admissionCheck) Case {
	return func(id, title, why string, check admissionCheck) Case {
		return onPolicies(kind, Case{ID: id, Level: level, Title: title, Why: why, Source: source}, check)
	}
}

// these returns a list of policies.
func these(policies ...*policy) []*policy { return policies }

// onPolicies returns a case about the policies of a kind.
func onPolicies(kind string, c Case, check admissionCheck) Case {
	c.stage = policyStage
	c.check = func(ctx context.Context, s *session) error {
		resource := policiesPath(kind)[len("/apis/"+admissionVersion+"/"):]
		if err := s.skipUnlessServed(ctx, admissionVersion, resource); err != nil {
			return err
		}
		a, err := s.newAdmission(ctx)
		if err != nil {
			return err
		}
		return check(ctx, a)
	}
	return c
}
