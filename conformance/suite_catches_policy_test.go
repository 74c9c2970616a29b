package conformance_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// policyFaults break rules about admission policies. They do not change the policies by which cases
// notice that others are effective.
var policyFaults = []faultyServer{
	{"evaluates no policies", dryRunPolicies(http.MethodPost, isBinding), `^AP-(0[1-9]|[1-6]\d|7[0-4])`},
	{"denies what a policy matches", changePolicies(func(spec map[string]any) {
		for _, v := range objectsIn(spec, "validations") {
			v["expression"] = "false"
		}
	}), `^AP-(01(/custom)?|06|10|13|14|29|3[0-29](/.*)?|36|40|4[1-3]|50)$`},

	// Bindings, actions and messages.
	{"applies a policy without a binding", bindPolicies, `^AP-(02|54)$`},
	{"applies one binding of a policy", dryRunPolicies(http.MethodPost, isSecondBinding), `^AP-(04|39|56/bindings)$`},
	{"keeps deleted policies", dryRunPolicies(http.MethodDelete, isPolicy), `^AP-(05|05/policy|54)$`},
	{"keeps policies that are updated", dryRunPolicies(http.MethodPatch, isPolicy), `^AP-(06|06/binding|34)$`},
	{"reports the last violation", changePolicies(func(spec map[string]any) { slices.Reverse(listIn(spec, "validations")) }), `^AP-07$`},
	{"reads Warn as Audit", changePolicies(replaceAction("Warn", "Audit")), `^AP-(04|06/binding|08(/.*)?|14|35|44)$`},
	{"reads Warn as Deny", changePolicies(replaceAction("Warn", "Deny")), `^AP-(04|06/binding|08(/.*)?|14|44)$`},
	{"reads Audit as Warn", changePolicies(replaceAction("Audit", "Warn")), `^AP-(09|44)$`},
	{"does not read Deny beside Audit", changePolicies(func(spec map[string]any) {
		if len(listIn(spec, "validationActions")) == 2 {
			spec["validationActions"] = []any{"Audit"}
		}
	}), `^AP-(08/audit|09/deny)$`},
	{"ignores message", changePolicies(dropFromValidations("message")), `^AP-(01|10|12(/empty)?|13)$`},
	{"ignores messageExpression", changePolicies(dropFromValidations("messageExpression")), `^AP-(01/custom|08|11|12/empty|2[38](/.*)?|32(/.*)?|33|40|46|47(/.*)?|52/.*)$`},
	{"fails if a messageExpression does", replaceInPolicies("'no ' + object.data.missing", "'no such key'"), `^AP-12$`},
	{"ignores reason", changePolicies(dropFromValidations("reason")), `^AP-13$`},
	{"reports an expression that fails with the reason of the validation", changeBody(isDryRun, replaceText(`resulted in error: no such key: k","reason":"Invalid"`, `resulted in error: no such key: k","reason":"Forbidden"`)), `^AP-(15|42)$`},
	{"ignores audit annotations", changePolicies(func(spec map[string]any) {
		if spec["auditAnnotations"] != nil {
			spec["auditAnnotations"], spec["validations"] = nil, []any{map[string]any{"expression": "true"}}
		}
	}), `^AP-15$`},
	{"has no causes in denials", changeBody(anyRequest, replaceText(`"causes":`, `"because":`)), `^AP-(01(/custom)?|02|13|34|37|42|64/missing|68|73(/.*)?|74(/.*)?)$`},

	// Which requests match.
	{"ignores the operations of rules", changePolicyRules(func(rule map[string]any) { rule["operations"] = []any{"*"} }), `^AP-(16|26|55)$`},
	{"does not read * as an operation", changePolicyRules(func(rule map[string]any) {
		if operations := listIn(rule, "operations"); len(operations) == 1 && operations[0] == "*" {
			rule["operations"] = []any{"CREATE"}
		}
	}), `^AP-(16/all|46)$`},
	{"ignores the groups of rules", changePolicyRules(func(rule map[string]any) { rule["apiGroups"] = []any{"*"} }), `^AP-17$`},
	{"ignores the versions of rules", changePolicyRules(func(rule map[string]any) { rule["apiVersions"] = []any{"*"} }), `^AP-(17|23(/exact)?)$`},
	{"ignores resourceNames", changePolicyRules(func(rule map[string]any) { delete(rule, "resourceNames") }), `^AP-(18|19|26|55)$`},
	{"ignores excludeResourceRules", changeMatching(func(m map[string]any) { delete(m, "excludeResourceRules") }), `^AP-(19|26|55)$`},
	{"ignores the scope of rules", changePolicyRules(func(rule map[string]any) { delete(rule, "scope") }), `^AP-20$`},
	{"ignores the namespaceSelector", changeMatching(func(m map[string]any) {
		delete(m, "namespaceSelector")
		probe := map[string]any{"apiGroups": []any{"*"}, "apiVersions": []any{"*"}, "operations": []any{"*"}, "resources": []any{"*"}, "resourceNames": []any{"probe"}}
		m["excludeResourceRules"] = append(listIn(m, "excludeResourceRules"), probe) // that of markers
	}), `^AP-(21(/namespace)?|26|55)$`},
	{"ignores the objectSelector", changeMatching(func(m map[string]any) { delete(m, "objectSelector") }), `^AP-(04|21/cluster|22|25|26|33/none|37|38|39|55|64(/missing)?|73|74)$`},
	{"matches the objectSelector with the new object only", replaceInPolicies(`request.operation == 'CREATE' \u0026\u0026`, `!('guard' in object.metadata.?labels.orValue({})) ||`), `^AP-22$`},
	{"reads Equivalent as Exact", changeMatching(func(m map[string]any) { m["matchPolicy"] = "Exact" }), `^AP-23$`},
	{"reads Exact as Equivalent", changeMatching(func(m map[string]any) { m["matchPolicy"] = "Equivalent" }), `^AP-23/exact$`},
	{"ignores matchConditions", changePolicies(func(spec map[string]any) { delete(spec, "matchConditions") }), `^AP-(16/all|24|25|28|40|46|47|55/conditions)$`},
	{"evaluates the first matchCondition only", changePolicies(func(spec map[string]any) {
		if conditions := listIn(spec, "matchConditions"); conditions != nil {
			spec["matchConditions"] = conditions[:1]
		}
	}), `^AP-(24|25)$`},
	{"ignores matchResources", changePolicies(func(spec map[string]any) { delete(spec, "matchResources") }), `^AP-(04|26|39|55)$`},
	{"matches what either the policy or the binding matches", changePolicyRules(func(rule map[string]any) { rule["resources"] = []any{"*"}; rule["apiGroups"] = []any{"*"} }), `^AP-26/wider$`},
	{"applies policies to policies", changeResponse(isPolicy, func(r *http.Response) {
		if isDryRun(r.Request) {
			r.StatusCode = http.StatusUnprocessableEntity
		}
	}), `^AP-(27|55/exempt)$`},
	{"does not tell subresources apart", changePolicyRules(func(rule map[string]any) {
		resources := listIn(rule, "resources")
		for i, name := range resources {
			resources[i], _, _ = strings.Cut(name.(string), "/")
		}
	}), `^AP-(28(/scale)?|65)$`},
	{"applies no policies to the deletion of a collection", changeResponse(hasMethod(http.MethodDelete), replaceCode(http.StatusUnprocessableEntity, http.StatusOK)), `^AP-(16(/all)?|29(/collection)?|46)$`},

	// Parameters.
	{"ignores the namespace of a paramRef", changeParamRefs(func(ref map[string]any) { delete(ref, "namespace") }), `^AP-30/namespace$`},
	{"looks for parameters in one namespace", changePolicies(func(spec map[string]any) {
		if ref, ok := spec["paramRef"].(map[string]any); ok && ref["namespace"] == nil {
			ref["namespace"], _, _ = strings.Cut(spec["policyName"].(string), "-a")
		}
	}), `^AP-(30|32/cluster)$`},
	{"does not notice changes of parameters", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/configmaps/limit") {
			r.URL.RawQuery = "dryRun=All"
		}
	}), `^AP-31$`},
	{"selects one parameter only", changeParamRefs(func(ref map[string]any) {
		if ref["selector"] != nil {
			delete(ref, "selector")
			ref["name"] = "one"
		}
	}), `^AP-(33|64/selector)$`},
	{"reads Deny as Allow for parameters", changeParamRefs(func(ref map[string]any) { ref["parameterNotFoundAction"] = "Allow" }), `^AP-(31|33/none|34|64/missing)$`},
	{"reads Allow as Deny for parameters", changeParamRefs(func(ref map[string]any) { ref["parameterNotFoundAction"] = "Deny" }), `^AP-(33/none|35|64/missing)$`},
	{"needs a paramRef", changePolicies(func(spec map[string]any) {
		if spec["policyName"] != nil && spec["paramRef"] == nil {
			spec["paramRef"] = map[string]any{"name": "none", "parameterNotFoundAction": "Deny"}
		}
	}), `^AP-36$`},

	// Expressions.
	{"evaluates all variables", changePolicies(func(spec map[string]any) {
		if validations := listIn(spec, "validations"); spec["variables"] != nil {
			spec["validations"] = append([]any{map[string]any{"expression": "variables.number != -1"}}, validations...)
		}
	}), `^AP-41$`},
	{"reads Fail as Ignore", changePolicies(func(spec map[string]any) { setFailurePolicy(spec, "Ignore") }), `^AP-(15|25|31|33/none|34|37|38|42(/variable)?|44|45|64/missing|68|73(/.*)?|74(/.*)?)$`},
	{"reads Ignore as Fail", changePolicies(func(spec map[string]any) { setFailurePolicy(spec, "Fail") }), `^AP-(25|37|43|45|64/missing|73(/.*)?|74(/.*)?)$`},
	{"limits no costs", replaceInPolicies("variables.all.all(c, a + b + c != 'x')", "'x' != a + b"), `^AP-45$`},
	{"has the new object as oldObject", replaceInPolicies("oldObject", "object"), `^AP-(28/scale|29|46|63)$`},
	{"does not tell dry runs", replaceInPolicies("request.dryRun", "false"), `^AP-(16(/all)?|29(/collection)?|46|47|48|60)$`},
	{"leaves the request without an operation", replaceInPolicies("request.operation", "'WRITE'"), `^AP-(16/all|47|63|65)$`},
	{"has another namespaceObject", replaceInPolicies("namespaceObject", "oldObject"), `^AP-(49|63)$`},
	{"has a namespaceObject for every object", replaceInPolicies("namespaceObject == null", "false"), `^AP-49/cluster$`},
	{"authorizes nothing", replaceInPolicies(".allowed()", ".errored()"), `^AP-(50|63/authorizer)$`},
	{"evaluates policies before the schema", changeBody(hasMethod(http.MethodPost), replaceText(`"field":"spec.size"`, `"field":""`)), `^AP-51$`},
	{"generates names after validating policies", replaceInPolicies("request.name == object.metadata.name", "request.name == ''"), `^AP-47/generated$`},

	// Mutations.
	{"evaluates no mutating policies", dryRunPolicies(http.MethodPost, func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/mutatingadmissionpolicies")
	}), `^AP-(5[3-9]|6\d|7[0-4])`},
	{"mutates on create only", changePolicyRules(func(rule map[string]any) {
		if operations := listIn(rule, "operations"); slices.Contains(operations, any("CREATE")) {
			rule["operations"] = []any{"CREATE"}
		}
	}), `^AP-(53(/custom)?|55/conditions|60|61|63)$`},
	{"makes the first mutation only", changePolicies(func(spec map[string]any) {
		if mutations := listIn(spec, "mutations"); mutations != nil {
			spec["mutations"] = mutations[:1]
		}
	}), `^AP-(56|72)$`},
	{"makes mutations in reverse", changePolicies(func(spec map[string]any) { slices.Reverse(listIn(spec, "mutations")) }), `^AP-56$`},
	{"applies one mutating policy", dryRunBodies(http.MethodPost, `"name":"conformance-`, `-b"`), `^AP-(14|57|58(/never)?)$`},
	{"reads IfNeeded as Never", replaceInPolicies("IfNeeded", "Never"), `^AP-58$`},
	{"reads Never as IfNeeded", replaceInPolicies(`"Never"`, `"IfNeeded"`), `^AP-58/never$`},
	{"does not validate mutated objects", changeResponse(isDryRun, replaceCode(http.StatusUnprocessableEntity, http.StatusCreated)), `^AP-59(/validation)?$`},
	{"stores dry runs", changeRequest(func(r *http.Request) {
		if !strings.Contains(readBody(r), `"name":"probe"`) { // that of markers
			r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, "dryRun=All", "")
		}
	}), `^AP-(4[68]|47|60)$`},
	{"records the user as manager of mutated fields", changeBody(hasMethod(http.MethodPost), replaceText(`"f:k":{}`, `"f:k":{},"f:by":{}`)), `^AP-61$`},
	{"generates names before mutating policies", replaceInPolicies("has(object.metadata.name)", "true"), `^AP-62$`},
	{"replaces objects by the configuration", changeBody(isDryRun, func(s string) string {
		return strings.NewReplacer(`"other":"2"`, `"another":"2"`, `"env":`, `"environment":`, `"example.com/own",`, "", `,"example.com/own"`, "").Replace(s)
	}), `^AP-(66|67(/set)?|70)$`},
	{"applies an empty configuration as a patch", replaceInPolicies(`: Object{}`, `: Object{data: {'k': ''}}`), `^AP-66/nothing$`},
	{"answers 501 instead of 403", withoutCode(http.StatusForbidden), `^AP-(13|64/missing|68|73(/.*)?|74(/.*)?)$`},
	{"copies instead of moving", replaceInPolicies("op: 'move'", "op: 'copy'"), `^AP-69$`},
	{"evaluates lists of operations as far as they are constant", replaceInPolicies("object.data.size() \\u003e 3", "false"), `^AP-70/composed$`},
	{"does not escape keys", replaceInPolicies("jsonpatch.escapeKey(", "("), `^AP-71$`},
	{"ignores tests in patches", replaceInPolicies("JSONPatch{op: 'test', path: '/data/k', value: '1'}, ", ""), `^AP-72$`},
	{"applies patches as far as possible", changePolicies(func(spec map[string]any) { setFailurePolicy(spec, "Ignore") }), `^AP-(68|73(/.*)?)$`},

	// The status.
	{"does not say that it checked the types", changeBody(isPolicy, replaceText(`"typeChecking":`, `"typesChecked":`)), `^AP-82(/.*)?$`},
	{"warns about the types of all expressions", changeBody(isPolicy, replaceText(`"typeChecking":{}`, `"typeChecking":{"expressionWarnings":[{}]}`)), `^AP-82/fine$`},
	{"does not check the types of messageExpressions", changeBody(isPolicy, replaceText(`].messageExpression"`, `].expression"`)), `^AP-82/message$`},
	{"reports the first expression for each warning", changeBody(isPolicy, replaceText(`validations[1]`, `validations[0]`)), `^AP-82$`},
}

// Conditions on requests.

func isBinding(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "admissionpolicybindings")
}

func isPolicy(r *http.Request) bool { return strings.Contains(r.URL.Path, "admissionpolic") }

func isSecondBinding(r *http.Request) bool {
	var body struct {
		Metadata struct{ Name string }
		Spec     struct{ PolicyName string }
	}
	return isBinding(r) && json.Unmarshal([]byte(readBody(r)), &body) == nil && body.Metadata.Name != body.Spec.PolicyName
}

// isMarker reports whether a body is that of a policy by which a case notices that others are
// effective.
func isMarker(body string) bool { return strings.Contains(body, "-marker-") }

// dryRunPolicies makes requests of a method that meet a condition dry runs.
func dryRunPolicies(method string, when func(*http.Request) bool) fault {
	return changeRequest(func(r *http.Request) {
		if r.Method == method && when(r) && !isMarker(readBody(r)) {
			q := r.URL.Query()
			q.Set("dryRun", "All")
			r.URL.RawQuery = q.Encode()
		}
	})
}

// dryRunBodies makes writes of policies whose bodies contain these texts dry runs.
func dryRunBodies(method string, texts ...string) fault {
	return dryRunPolicies(method, func(r *http.Request) bool {
		body := readBody(r)
		return isPolicy(r) && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(body, text) })
	})
}

// bindPolicies creates a binding with each policy.
func bindPolicies(next http.RoundTripper) http.RoundTripper {
	return roundTripFunc(func(req *http.Request) (*http.Response, error) {
		body := readBody(req)
		resp, err := next.RoundTrip(req)
		if err != nil || req.Method != http.MethodPost || !isPolicy(req) || isBinding(req) || isMarker(body) {
			return resp, err
		}
		var policy map[string]any
		if err := json.Unmarshal([]byte(body), &policy); err != nil {
			return nil, err
		}
		name := policy["metadata"].(map[string]any)["name"].(string)
		spec := map[string]any{"policyName": name}
		if policy["kind"] == "ValidatingAdmissionPolicy" {
			spec["validationActions"] = []any{"Deny"}
		}
		policy["kind"], policy["metadata"], policy["spec"] = policy["kind"].(string)+"Binding", map[string]any{"name": name + "-extra"}, spec
		encoded, err := json.Marshal(policy)
		if err != nil {
			return nil, err
		}
		bind := req.Clone(req.Context())
		bind.URL.Path = strings.TrimSuffix(req.URL.Path, "ies") + "ybindings"
		setBody(bind, string(encoded))
		bound, err := next.RoundTrip(bind)
		if err == nil {
			err = bound.Body.Close()
		}
		return resp, err
	})
}

// replaceInPolicies replaces a text in the bodies of policies and bindings.
func replaceInPolicies(old, with string) fault {
	return changeRequestBody(isPolicy, func(body string) string {
		if isMarker(body) {
			return body
		}
		return strings.ReplaceAll(body, old, with)
	})
}

// changePolicies changes the specs of policies and bindings.
func changePolicies(change func(spec map[string]any)) fault {
	return changeRequestBody(isPolicy, func(body string) string {
		var o map[string]any
		if isMarker(body) || json.Unmarshal([]byte(body), &o) != nil {
			return body
		}
		spec, ok := o["spec"].(map[string]any)
		if !ok {
			return body
		}
		change(spec)
		changed, err := json.Marshal(o)
		if err != nil {
			return body
		}
		return string(changed)
	})
}

// changeMatching changes the constraints of policies and the matchResources of bindings.
func changeMatching(change func(map[string]any)) fault {
	return changePolicies(func(spec map[string]any) {
		for _, field := range []string{"matchConstraints", "matchResources"} {
			if m, ok := spec[field].(map[string]any); ok {
				change(m)
			}
		}
	})
}

// changePolicyRules changes the rules of policies and bindings.
func changePolicyRules(change func(rule map[string]any)) fault {
	return changeMatching(func(m map[string]any) {
		for _, field := range []string{"resourceRules", "excludeResourceRules"} {
			for _, rule := range objectsIn(m, field) {
				change(rule)
			}
		}
	})
}

// changeParamRefs changes the references of bindings to parameters.
func changeParamRefs(change func(ref map[string]any)) fault {
	return changePolicies(func(spec map[string]any) {
		if ref, ok := spec["paramRef"].(map[string]any); ok {
			change(ref)
		}
	})
}

// setFailurePolicy sets the failurePolicy in the spec of a policy.
func setFailurePolicy(spec map[string]any, failurePolicy string) {
	if spec["policyName"] == nil {
		spec["failurePolicy"] = failurePolicy
	}
}

// replaceAction returns a change of the actions of bindings.
func replaceAction(old, with string) func(spec map[string]any) {
	return func(spec map[string]any) {
		actions := listIn(spec, "validationActions")
		for i, action := range actions {
			if action == old {
				actions[i] = with
			}
		}
		spec["validationActions"] = slices.Compact(actions)
	}
}

// dropFromValidations returns a change that removes a field of validations.
func dropFromValidations(field string) func(spec map[string]any) {
	return func(spec map[string]any) {
		for _, v := range objectsIn(spec, "validations") {
			delete(v, field)
		}
	}
}

// listIn returns a list in a field, or nil.
func listIn(o map[string]any, field string) []any {
	list, _ := o[field].([]any)
	return list
}

// objectsIn returns the objects of a list in a field.
func objectsIn(o map[string]any, field string) []map[string]any {
	var all []map[string]any
	for _, item := range listIn(o, field) {
		if one, ok := item.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}
