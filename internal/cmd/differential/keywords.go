package differential

// keyword is a keyword of schemas. values is a JSON array of values, valid or not.
type keyword struct{ name, values string }

// keywords returns those that schemas are changed with.
func keywords() []keyword {
	const junctors = `[
		[], [{"required": ["a"]}], [{"minimum": 1}, {"maximum": 3}], [{"type": "string"}],
		[{"properties": {"replicas": {"minimum": 1}}}], [{"properties": {"other": {"minimum": 1}}}],
		[{"default": "a"}], [{"description": "a"}], [{"nullable": true}], [{"title": "a", "format": "date"}],
		[{"x-kubernetes-validations": [{"rule": "true"}]}],
		[{"additionalProperties": {"type": "string"}}], [{"items": {"pattern": "a"}}]]`
	return []keyword{
		{"type", `["", "string", "integer", "number", "boolean", "object", "array", "null", "Object", ["string"]]`},
		{"format", `["", "date", "date-time", "duration", "byte", "binary", "int32", "int64", "float", "double",
			"uuid", "ipv4", "cidr", "email", "hostname", "uri", "mac", "password", "other",
			"k8s-short-name", "k8s-long-name"]`},
		{"title", `["a"]`},
		{"description", `["", "a", 1]`},
		{"id", `["a"]`},
		{"$ref", `["#/definitions/a", ""]`},
		{"$schema", `["http://json-schema.org/draft-04/schema"]`},
		{"definitions", `[{"a": {"type": "string"}}, {}]`},
		{"dependencies", `[{"a": ["b"]}]`},
		{"patternProperties", `[{"a": {"type": "string"}}]`},
		{"externalDocs", `[{"url": "a"}]`},
		{"example", `["a", {"a": 1}]`},
		{"deprecated", `[true]`},
		{"discriminator", `["a"]`},
		{"readOnly", `[true]`},
		{"minimum", `[0, 1.5, "1", -1]`},
		{"maximum", `[0, 10, 1e400, 2]`},
		{"exclusiveMinimum", `[true, false, 1]`},
		{"exclusiveMaximum", `[true, false, 1]`},
		{"multipleOf", `[0, 2, -1, 0.5]`},
		{"minLength", `[0, 1, -1, 3]`},
		{"maxLength", `[0, 1, -1, 3]`},
		{"pattern", `["", "^a+$", "(", "[a-z", "(?=a)"]`},
		{"minItems", `[0, 1, -1, 3]`},
		{"maxItems", `[0, 1, -1, 1000000]`},
		{"uniqueItems", `[true, false]`},
		{"minProperties", `[0, 1, -1]`},
		{"maxProperties", `[0, 1, -1]`},
		{"required", `[[], ["a"], ["replicas", "replicas"], "a", ["k"]]`},
		{"enum", `[[], ["a", "a"], [1, "a"], [null], ["a", "b"], [1, 1.0], [{"a": 1}]]`},
		{"default", `[null, "a", 1, 1.5, true, {}, [], {"a": 1}, ["a"], ["a", "a"], [{"k": "a"}, {"k": "a"}],
			{"replicas": -1, "x": 1}]`},
		{"nullable", `[true, false, "a"]`},
		{"items", `[{"type": "string"}, {"type": "integer"}, [{"type": "string"}], {}, null,
			{"type": "object", "properties": {"k": {"type": "string"}}},
			{"type": "object", "properties": {"k": {"type": "string", "default": "a"}}}]`},
		{"additionalItems", `[true, {"type": "string"}]`},
		{"properties", `[{}, {"k": {"type": "string"}}, null, {"a": {}}, {"metadata": {"type": "object"}},
			{"apiVersion": {"type": "integer"}},
			{"metadata": {"type": "object", "properties": {
				"name": {"type": "string", "pattern": "a"}, "labels": {"type": "object"}}}}]`},
		{"additionalProperties", `[true, false, {"type": "string"}, {}, null, {"type": "object"}]`},
		{"allOf", junctors},
		{"anyOf", junctors},
		{"oneOf", junctors},
		{"not", `[{}, {"required": ["a"]}, {"type": "string"}, {"enum": ["a"]}]`},
		{"x-kubernetes-preserve-unknown-fields", `[true, false]`},
		{"x-kubernetes-embedded-resource", `[true, false]`},
		{"x-kubernetes-int-or-string", `[true, false]`},
		{"x-kubernetes-list-type", `["atomic", "set", "map", "other", ""]`},
		{"x-kubernetes-list-map-keys", `[["k"], [], ["k", "k"], ["a"], null]`},
		{"x-kubernetes-map-type", `["atomic", "granular", "other"]`},
		{"x-kubernetes-other", `[true]`},
	}
}

// typeOf returns the type of values that a keyword is for, "" for any.
func typeOf(keyword string) string {
	switch keyword {
	case "format", "pattern", "minLength", "maxLength":
		return "string"
	case "minItems", "maxItems":
		return "array"
	case "minProperties", "maxProperties":
		return "object"
	case "minimum", "maximum", "multipleOf":
		return "number"
	}
	return ""
}

// rules returns CEL expressions for x-kubernetes-validations, valid or not.
func rules() []string {
	return []string{
		"", " ", "true", "1", "self", "self ==", "self == oldSelf", "oldSelf.hasValue()", "undeclared",
		"self > 1", "self.size() > 0", "self == 'a'", "self in [1]", "type(self) == int",
		"has(self.a)", "has(self.replicas) && self.replicas > 0", "self.k == 'a'", "self.a.b.c", "self.?a.hasValue()",
		"self[0] == 'a'", "self.all(x, x == 'a')", "self.exists(x, self.all(y, x == y))",
		"self.all(x, self.all(y, self.all(z, x == y && y == z)))", "self.map(x, x + 'a').size() > 1",
		"self.transformList(i, v, v).size() > 0", "self.kind == 'a'", "self.__other",
		"self.metadata.name == 'a'", "self.metadata.labels == {}", "self.spec.replicas == self.status.replicas",
		"self.matches('(')", "self.matches('a+')", "isURL(self)", "ip('1.2.3.4') == ip(self)",
		"format.dns1123Label().validate(self).hasValue()", "duration('1h') > duration('1m')",
		"quantity('1Gi').isGreaterThan(quantity('1'))", "semver('1.2.3').major() == 1",
		"optional.of(1).hasValue()", "cel.bind(x, self, x == x)", "sets.contains([1], [2])",
		"lists.range(2) == [0, 1]", "base64.encode(b'a') == 'YQ=='",
	}
}

// ruleFields returns, as JSON, fields of rules beside the expression, or instead of it.
func ruleFields() []string {
	return []string{
		`{"message": ""}`, `{"message": " "}`, `{"message": "a\nb"}`, `{"message": "a", "messageExpression": "'b'"}`,
		`{"messageExpression": "1"}`, `{"messageExpression": "self"}`, `{"messageExpression": "'a' + string(self)"}`,
		`{"messageExpression": ""}`, `{"messageExpression": " "}`,
		`{"reason": "FieldValueInvalid"}`, `{"reason": "FieldValueForbidden"}`, `{"reason": "FieldValueRequired"}`,
		`{"reason": "FieldValueDuplicate"}`, `{"reason": "Other"}`,
		`{"fieldPath": ".a"}`, `{"fieldPath": ".replicas"}`, `{"fieldPath": "replicas"}`, `{"fieldPath": ".spec.replicas"}`,
		`{"fieldPath": ".spec['replicas']"}`, `{"fieldPath": ".a[0]"}`, `{"fieldPath": ""}`, `{"fieldPath": " "}`,
		`{"fieldPath": "."}`, `{"optionalOldSelf": true}`, `{"optionalOldSelf": false}`,
		`{"rule": "oldSelf == self", "optionalOldSelf": true}`,
		`{"rule": "oldSelf.orValue(self) == self", "optionalOldSelf": true}`,
		`{"rule": "oldSelf == self", "messageExpression": "oldSelf == self ? 'a' : 'b'"}`, `{"other": 1}`, `{"rule": null}`,
	}
}
