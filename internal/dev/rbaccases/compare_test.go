package rbaccases

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompare(t *testing.T) {
	for name, c := range map[string]struct{ want, body, difference string }{
		"code":             {`{"code":200}`, `{"code":403,"a":1}`, `code 403, want 200: {"a":1,"code":403}`},
		"no JSON":          {`{"code":403,"message":"a"}`, `a`, `the response is no JSON: "a"`},
		"no body":          {`{"code":403}`, ``, ``},
		"text":             {`{"code":404}`, `a`, ``},
		"default reason":   {`{"code":403}`, `{"reason":"NotFound"}`, `reason NotFound, want Forbidden`},
		"reason":           {`{"code":404,"reason":"NotFound"}`, `{"reason":"Forbidden"}`, `reason Forbidden, want NotFound`},
		"message":          {`{"code":404,"message":"a"}`, `{"message":"a b"}`, `message "a b", want "a"`},
		"expression":       {`{"code":404,"message":"$re:a.*"}`, `{"message":"a\nb"}`, ``},
		"whole expression": {`{"code":404,"message":"$re:a"}`, `{"message":"ab"}`, `message "ab", want "$re:a"`},
		"details":          {`{"code":404,"details":{"name":"a"}}`, `{"details":{"name":"b"}}`, `details.name is "b", want "a"`},
		"no details":       {`{"code":404,"details":{"name":"a"}}`, `{}`, `details is null, want an object`},
		"more details":     {`{"code":404,"details":{"name":"a"}}`, `{"details":{"name":"a","kind":"b"}}`, ``},
		"answer":           {`{"code":201,"answer":{"status":{"allowed":true}}}`, `{"status":{"allowed":false}}`, `status.allowed is false, want true`},
		"list":             {`{"code":201,"answer":{"a":["b"]}}`, `{"a":["b","c"]}`, `a is ["b","c"], want ["b"]`},
		"list element":     {`{"code":201,"answer":{"a":["b","$re:d|c"]}}`, `{"a":["b","c"]}`, ``},
		"has":              {`{"code":201,"has":{"a.b":[{"c":1}]}}`, `{"a":{"b":[{"c":1},{"c":2}]}}`, ``},
		"has a part":       {`{"code":201,"has":{"a.b":[{"c":1}]}}`, `{"a":{"b":[{"c":1,"d":2}]}}`, `a.b lacks {"c":1}: [{"c":1,"d":2}]`},
		"hasNot":           {`{"code":201,"hasNot":{"a":[1]}}`, `{"a":[2,1]}`, `a has 1`},
		"absent":           {`{"code":201,"absent":["a.b"]}`, `{"a":{"b":""}}`, `a.b is "", want none`},
		"is absent":        {`{"code":201,"absent":["a.b"]}`, `{"a":{}}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var r request
			require.NoError(t, json.Unmarshal([]byte(c.want), &r))
			code := r.Code
			if strings.HasPrefix(c.difference, "code") {
				code = 403
			}
			require.Equal(t, c.difference, r.compare(response{code, []byte(c.body)}))
		})
	}
}
