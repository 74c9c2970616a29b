package builtintypes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func decode(t *testing.T, text string) (value any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value))
	return value
}

func TestCompare(t *testing.T) {
	for name, c := range map[string]struct{ want, got, difference string }{
		"subset":          {`{"spec":{"a":1}}`, `{"spec":{"a":1,"b":2}}`, ""},
		"number":          {`{"a":1}`, `{"a":1.0}`, ""},
		"other number":    {`{"a":1}`, `{"a":2}`, "a is 2, want 1"},
		"text for number": {`{"a":1}`, `{"a":"1"}`, `a is "1", want 1`},
		"missing":         {`{"a":{"b":"c"}}`, `{"a":{}}`, `a.b is null, want "c"`},
		"empty object":    {`{"a":{}}`, `{}`, "a is not an object"},
		"null":            {`{"a":null}`, `{"a":1}`, "a is 1, want null"},
		"null is none":    {`{"a":null}`, `{}`, ""},
		"longer list":     {`{"a":[1]}`, `{"a":[1,2]}`, "a is [1,2], want 1 elements"},
		"list":            {`{"a":[{"b":1}]}`, `{"a":[{"b":1,"c":2}]}`, ""},
		"list element":    {`{"a":[{"b":1}]}`, `{"a":[{"b":3}]}`, "a.0.b is 3, want 1"},
		"id":              {`{"a":"x-$id.y"}`, `{"a":"x-q1.y"}`, ""},
		"id in a key":     {`{"a":{"$id":true}}`, `{"a":{"q1":true}}`, ""},
		"only an id":      {`{"a":"$id"}`, `{"a":"q1"}`, ""},
		"an id with more": {`{"a":"$id-x"}`, `{"a":"q1-x"}`, ""},
		"other id":        {`{"a":"$id-x"}`, `{"a":"q2-x"}`, `a is "q2-x", want "$id-x"`},
		"any":             {`{"a":"$any"}`, `{"a":false}`, ""},
		"not any":         {`{"a":"$any"}`, `{"a":null}`, `a is null, want "$any"`},
		"address":         {`{"a":"$ip4"}`, `{"a":"10.111.255.254"}`, ""},
		"other address":   {`{"a":"$ip4"}`, `{"a":"10.112.0.1"}`, `a is "10.112.0.1", want "$ip4"`},
		"port":            {`{"a":"$port"}`, `{"a":30000}`, ""},
		"other port":      {`{"a":"$port"}`, `{"a":"30000"}`, `a is "30000", want "$port"`},
		"uid":             {`{"a":"$uid"}`, `{"a":"b6b3c1f4-5d43-4b53-8f8a-1f0b6f0e6c11"}`, ""},
		"no uid":          {`{"a":"$uid"}`, `{"a":"b6b3"}`, `a is "b6b3", want "$uid"`},
		"time":            {`{"a":"$time"}`, `{"a":"2024-05-06T07:08:09Z"}`, ""},
		"time in a zone":  {`{"a":"$time"}`, `{"a":"2024-05-06T07:08:09+01:00"}`, `a is "2024-05-06T07:08:09+01:00", want "$time"`},
		"expression":      {`{"a":"$re:b+"}`, `{"a":"bb"}`, ""},
		"as a whole":      {`{"a":"$re:b+"}`, `{"a":"bbc"}`, `a is "bbc", want "$re:b+"`},
		"equal values":    {`{"a":"$any#x","b":"$any#x"}`, `{"a":"1","b":"1"}`, ""},
		"other values":    {`{"a":"$any#x","b":"$any#x"}`, `{"a":"1","b":"2"}`, `b is "2", want "$any#x"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := symbols{"$id": "q1", "$ns": "n"}
			differences := s.compare(expectation{Stored: decode(t, c.want).(object)}, decode(t, c.got).(object))
			require.Equal(t, c.difference, strings.Join(differences, "; "))
		})
	}
}

func TestCompareExactAndAbsent(t *testing.T) {
	s := symbols{}
	got := decode(t, `{"spec":{"a":{"b":1,"c":null}},"metadata":{"labels":{"x.y/z":""}},"other":1}`).(object)
	want := expectation{Stored: decode(t, `{"spec":{"a":{"b":1}}}`).(object), Exact: true}
	require.Empty(t, s.compare(want, got))
	want.Stored = decode(t, `{"spec":{"a":{}}}`).(object)
	require.Equal(t, []string{"spec.a.b is 1, want none"}, s.compare(want, got))

	want = expectation{Absent: []any{"spec.a.b", "spec.a.c", "spec.a.b.d", "spec.a.0", []any{"metadata", "labels", "x.y/z"}}}
	require.Equal(t, []string{"spec.a.b is 1, want none", `[metadata labels x.y/z] is "", want none`}, s.compare(want, got))
}

func TestResolve(t *testing.T) {
	s := symbols{"$id": "q1", "$ns": "n", "$port#p": json.Number("30001")}
	body, err := s.resolve(decode(t, `{"$id":["$port#p","a-$ns",true]}`))
	require.NoError(t, err)
	require.Equal(t, object{"q1": []any{json.Number("30001"), "a-n", true}}, body)
	_, err = s.resolve(decode(t, `[{"a":"$port#q"}]`))
	require.EqualError(t, err, "$port#q has no value")
}

func TestCompareStatus(t *testing.T) {
	response := decode(t, `{"reason":"Invalid","details":{"causes":[
		{"field":"spec.a[0]","reason":"FieldValueInvalid","message":"Invalid value: \"xxx\": too long"},
		{"field":"spec.a[0]","reason":"FieldValueRequired","message":"Required value"}]}}`).(object)
	long := cause{Field: "spec.a[0]", Reason: "FieldValueInvalid", Message: `Invalid value: "$repeat(x,3)": too long`}
	required := cause{Field: "spec.a[$any]", Reason: "FieldValueRequired", Message: "Required$any"}
	for name, c := range map[string]struct {
		want       expectation
		difference string
	}{
		"no causes":     {expectation{}, ""},
		"any order":     {expectation{Causes: []cause{required, long}}, ""},
		"reason":        {expectation{Reason: "Invalid"}, ""},
		"other reason":  {expectation{Reason: "Conflict"}, "reason Invalid, want Conflict"},
		"missing":       {expectation{Causes: []cause{required, long, long}}, "missing cause spec.a[0]: FieldValueInvalid: " + long.Message},
		"unexpected":    {expectation{Causes: []cause{long}}, "cause spec.a[0]: FieldValueRequired: Required value"},
		"part":          {expectation{Causes: []cause{required, {Field: "spec.a[0]", Reason: "FieldValueInvalid", MessageContains: "too"}}}, ""},
		"no such part":  {expectation{Causes: []cause{{Field: "spec.a[0]", Reason: "FieldValueInvalid", MessageContains: "two"}, required}}, "missing cause spec.a[0]: FieldValueInvalid: two; cause spec.a[0]: FieldValueInvalid: Invalid value: \"xxx\": too long"},
		"whole message": {expectation{Causes: []cause{{Field: "spec.a[0]", Reason: "FieldValueRequired", Message: "Required"}, long}}, "missing cause spec.a[0]: FieldValueRequired: Required; cause spec.a[0]: FieldValueRequired: Required value"},
	} {
		t.Run(name, func(t *testing.T) {
			differences := symbols{}.compareStatus(c.want, response)
			for i := range differences {
				differences[i] = strings.ReplaceAll(differences[i], "$repeat(x,3)", "xxx")
			}
			require.Equal(t, strings.ReplaceAll(c.difference, "$repeat(x,3)", "xxx"), strings.Join(differences, "; "))
		})
	}
}
