package flowcontrol

import (
	"testing"

	"github.com/stretchr/testify/require"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// The objects that every server has are valid, and no others with their names are.
func TestFixedObjects(t *testing.T) {
	for _, f := range append(bootstrap.MandatoryFlowSchemas, bootstrap.SuggestedFlowSchemas...) {
		f = f.DeepCopy()
		setFlowSchemaDefaults(f)
		require.Empty(t, validateFlowSchema(f), f.Name)
	}
	for _, c := range append(bootstrap.MandatoryPriorityLevelConfigurations, bootstrap.SuggestedPriorityLevelConfigurations...) {
		c = c.DeepCopy()
		setPriorityLevelConfigurationDefaults(c)
		require.Empty(t, validatePriorityLevelConfiguration(c), c.Name)
	}
	f := bootstrap.MandatoryFlowSchemaCatchAll.DeepCopy()
	f.Spec.MatchingPrecedence = 9999
	require.Contains(t, validateFlowSchemaUpdate(f, nil)[0].Error(), "spec of 'catch-all' must equal the fixed value")
	exempt := bootstrap.MandatoryPriorityLevelConfigurationExempt.DeepCopy()
	*exempt.Spec.Exempt.LendablePercent = 100
	require.Empty(t, validatePriorityLevelConfigurationUpdate(exempt, nil))
	exempt.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{}
	require.Contains(t, validatePriorityLevelConfiguration(exempt)[0].Error(), "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value")
	catchAll := bootstrap.MandatoryPriorityLevelConfigurationCatchAll.DeepCopy()
	*catchAll.Spec.Limited.NominalConcurrencyShares = 6
	require.Contains(t, validatePriorityLevelConfiguration(catchAll)[0].Error(), "spec of 'catch-all' must equal the fixed value")
}

func TestValidateFlowSchemaSpec(t *testing.T) {
	type subject = flowcontrolv1.Subject
	type rules = flowcontrolv1.PolicyRulesWithSubjects
	user := []subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "ann"}}}
	resources := []flowcontrolv1.ResourcePolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}, Namespaces: []string{"n"}}}
	withSubject := func(s subject) rules { return rules{Subjects: []subject{s}, ResourceRules: resources} }
	withRule := func(r flowcontrolv1.ResourcePolicyRule) rules {
		return rules{Subjects: user, ResourceRules: []flowcontrolv1.ResourcePolicyRule{r}}
	}
	withURLs := func(verbs []string, urls ...string) rules {
		return rules{Subjects: user, NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: verbs, NonResourceURLs: urls}}}
	}
	for name, c := range map[string]struct {
		rules rules
		want  []string
	}{
		"a user": {withSubject(user[0]), nil},
		"nothing": {rules{}, []string{
			"spec.rules[0].subjects: Required value: subjects must contain at least one value",
			"spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
		}},
		"no kind":                      {withSubject(subject{}), []string{`spec.rules[0].subjects[0].kind: Unsupported value: "": supported values: "Group", "ServiceAccount", "User"`}},
		"a user without user":          {withSubject(subject{Kind: "User"}), []string{"spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'"}},
		"a user without name":          {withSubject(subject{Kind: "User", User: &flowcontrolv1.UserSubject{}}), []string{"spec.rules[0].subjects[0].user.name: Required value"}},
		"a group without group":        {withSubject(subject{Kind: "Group"}), []string{"spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'"}},
		"a group without name":         {withSubject(subject{Kind: "Group", Group: &flowcontrolv1.GroupSubject{}}), []string{"spec.rules[0].subjects[0].group.name: Required value"}},
		"an account without account":   {withSubject(subject{Kind: "ServiceAccount"}), []string{"spec.rules[0].subjects[0].serviceAccount: Required value: serviceAccount is required when subject kind is 'ServiceAccount'"}},
		"all accounts of no namespace": {withSubject(subject{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Name: "*"}}), []string{"spec.rules[0].subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account"}},
		"an account":                   {withSubject(subject{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "n", Name: "a.b"}}), nil},
		"an account in capitals":       {withSubject(subject{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "n", Name: "A"}}), []string{`spec.rules[0].subjects[0].serviceAccount.name: Invalid value: "A": ` + validatetest.BadSubdomain}},
		"an account without name":      {withSubject(subject{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "n"}}), []string{"spec.rules[0].subjects[0].serviceAccount.name: Required value"}},
		"a group and others": {
			withSubject(subject{Kind: "Group", Group: &flowcontrolv1.GroupSubject{Name: "g"}, User: &flowcontrolv1.UserSubject{}, ServiceAccount: &flowcontrolv1.ServiceAccountSubject{}}),
			[]string{
				"spec.rules[0].subjects[0].serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is not 'ServiceAccount'",
				"spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
			},
		},
		"a user and a group": {
			withSubject(subject{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "u"}, Group: &flowcontrolv1.GroupSubject{}}),
			[]string{"spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'"},
		},
		"an empty rule": {withRule(flowcontrolv1.ResourcePolicyRule{}), []string{
			"spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value",
			"spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group",
			"spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource",
			"spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
		}},
		"stars and more": {
			withRule(flowcontrolv1.ResourcePolicyRule{Verbs: []string{"*", "x"}, APIGroups: []string{"a", "*"}, Resources: []string{"*", "r"}, Namespaces: []string{"-", "*"}}),
			[]string{
				`spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","x"]: if '*' is present, must not specify other verbs`,
				`spec.rules[0].resourceRules[0].apiGroups: Invalid value: ["a","*"]: if '*' is present, must not specify other api groups`,
				`spec.rules[0].resourceRules[0].resources: Invalid value: ["*","r"]: if '*' is present, must not specify other resources`,
				`spec.rules[0].resourceRules[0].namespaces: Invalid value: ["-","*"]: if '*' is present, must not specify other namespaces`,
			},
		},
		"cluster scope": {withRule(flowcontrolv1.ResourcePolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ClusterScope: true}), nil},
		"a namespace in capitals": {
			withRule(flowcontrolv1.ResourcePolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, Namespaces: []string{"N"}}),
			[]string{`spec.rules[0].resourceRules[0].namespaces[0]: Invalid value: "N": each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`},
		},
		"an unknown verb": {withURLs([]string{"get", "run"}, "/"), []string{
			`spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["get","run"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"`,
		}},
		"valid paths": {withURLs([]string{"get"}, "/", "/a", "/a/*"), nil},
		"no paths":    {withURLs([]string{"get"}), []string{"spec.rules[0].nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must contain at least one value"}},
		"a star and a path": {withURLs([]string{"get"}, "*", "x"),
			[]string{`spec.rules[0].nonResourceRules[0].nonResourceURLs: Invalid value: ["*","x"]: if '*' is present, must not specify other non-resource URLs`}},
		"invalid paths": {withURLs([]string{"get"}, "", "a", "/a b", "//", "/a*", "/*/*"), []string{
			`spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "": must not be empty`,
			`spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "a": must start with slash`,
			`spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a b": must not contain white-space`,
			`spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "//": must not contain double slash`,
			`spec.rules[0].nonResourceRules[0].nonResourceURLs[4]: Invalid value: "/a*": wildcard can only do suffix matching`,
			`spec.rules[0].nonResourceRules[0].nonResourceURLs[5]: Invalid value: "/*/*": wildcard can only do suffix matching`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &flowcontrolv1.FlowSchema{Spec: flowcontrolv1.FlowSchemaSpec{
				MatchingPrecedence: 10000, PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "l"}, Rules: []rules{c.rules},
			}}
			require.Equal(t, c.want, validatetest.Texts(validateFlowSchema(f)))
		})
	}
	require.Equal(t, []string{
		"spec.matchingPrecedence: Invalid value: -1: must be a positive value",
		`spec.distinguisherMethod.type: Unsupported value: {"Type":"ByColor"}: supported values: "ByNamespace", "ByUser"`,
		"spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
	}, validatetest.Texts(validateFlowSchema(&flowcontrolv1.FlowSchema{Spec: flowcontrolv1.FlowSchemaSpec{
		MatchingPrecedence: -1, DistinguisherMethod: &flowcontrolv1.FlowDistinguisherMethod{Type: "ByColor"},
	}})))
	require.Equal(t, []string{"spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"}, validatetest.Texts(validateFlowSchema(&flowcontrolv1.FlowSchema{
		Spec: flowcontrolv1.FlowSchemaSpec{MatchingPrecedence: 10001, PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "l"}},
	})))
}

func TestValidatePriorityLevelSpec(t *testing.T) {
	queue := func(queues, hand, length int32) flowcontrolv1.LimitResponse {
		return flowcontrolv1.LimitResponse{Type: "Queue", Queuing: &flowcontrolv1.QueuingConfiguration{Queues: queues, HandSize: hand, QueueLengthLimit: length}}
	}
	limited := func(l flowcontrolv1.LimitedPriorityLevelConfiguration) flowcontrolv1.PriorityLevelConfigurationSpec {
		return flowcontrolv1.PriorityLevelConfigurationSpec{Type: "Limited", Limited: &l}
	}
	for name, c := range map[string]struct {
		spec flowcontrolv1.PriorityLevelConfigurationSpec
		want []string
	}{
		"a queue":         {limited(flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: queue(maxQueues, 2, 1)}), nil},
		"no queue":        {limited(flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: flowcontrolv1.LimitResponse{Type: "Reject"}, BorrowingLimitPercent: new(int32(0))}), nil},
		"too many queues": {limited(flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: queue(maxQueues+1, 2, 1)}), []string{"spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater than 10000000"}},
		"too much entropy": {limited(flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: queue(512, 7, 1)}),
			[]string{"spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 512 and handSize 7 should not be greater than 60"}},
		"nothing positive": {limited(flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: queue(-1, 0, 0)}), []string{
			"spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: 0: must be positive",
			"spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive",
			"spec.limited.limitResponse.queuing.handSize: Invalid value: 0: must be positive",
		}},
		"numbers": {
			limited(flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: new(int32(-1)), LendablePercent: new(int32(101)), BorrowingLimitPercent: new(int32(-1)),
				LimitResponse: flowcontrolv1.LimitResponse{Type: "Ignore"},
			}),
			[]string{
				"spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
				`spec.limited.limitResponse.type: Unsupported value: "Ignore": supported values: "Queue", "Reject"`,
				"spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
				"spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer",
			},
		},
		"exempt": {
			flowcontrolv1.PriorityLevelConfigurationSpec{Type: "Exempt", Exempt: &flowcontrolv1.ExemptPriorityLevelConfiguration{NominalConcurrencyShares: new(int32(-1)), LendablePercent: new(int32(-1))}},
			[]string{
				`spec.type: Invalid value: "Exempt": type must be 'Exempt' if and only if name is 'exempt'`,
				"spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
				"spec.exempt.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive",
			},
		},
		"another type": {flowcontrolv1.PriorityLevelConfigurationSpec{Type: "Free"}, []string{`spec.type: Unsupported value: "Free": supported values: "Exempt", "Limited"`}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, validatetest.Texts(validatePriorityLevelConfiguration(&flowcontrolv1.PriorityLevelConfiguration{Spec: c.spec})))
		})
	}
	renamed := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "exempt"}}
	require.Contains(t, validatePriorityLevelConfiguration(renamed)[0].Error(), "type must be 'Exempt' if and only if name is 'exempt'")
	annotated := &flowcontrolv1.PriorityLevelConfiguration{}
	annotated.Annotations = map[string]string{"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares": ""}
	require.Equal(t, []string{
		"metadata.annotations: Forbidden: annotation 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden",
	}, validatetest.Texts(validatePriorityLevelConfigurationUpdate(annotated, nil)))
}

func TestValidateConditions(t *testing.T) {
	f := &flowcontrolv1.FlowSchema{Status: flowcontrolv1.FlowSchemaStatus{Conditions: []flowcontrolv1.FlowSchemaCondition{{Type: "a"}, {Type: "a"}, {}}}}
	require.Equal(t, []string{`status.conditions[1].type: Duplicate value: "a"`, "status.conditions[2].type: Required value: must not be empty"},
		validatetest.Texts(validateFlowSchemaStatusUpdate(f, nil)))
	c := &flowcontrolv1.PriorityLevelConfiguration{Status: flowcontrolv1.PriorityLevelConfigurationStatus{Conditions: []flowcontrolv1.PriorityLevelConfigurationCondition{{Type: "a"}, {Type: "b"}}}}
	require.Empty(t, validatePriorityLevelConfigurationStatusUpdate(c, nil))
}
