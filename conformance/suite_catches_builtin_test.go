package conformance_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// builtinFaults break the rules about built-in types. The cases about objects that are refused fail
// against TestServerWithoutValidation.
var builtinFaults = []faultyServer{
	{"stores objects of built-in types as they were sent", storeAsSent, `^(DV-|AP-7[56]/)`},
	{"refuses valid objects of built-in types", changeResponse(isDryRun, func(resp *http.Response) {
		resp.StatusCode = http.StatusUnprocessableEntity
	}), `^(VA-\d\d|AP-(77|79|8[01]))/valid`},
}

// storeAsSent answers a create or a patch with the object that was sent, without defaults and with
// its status.
func storeAsSent(next http.RoundTripper) http.RoundTripper {
	stored := map[string]any{}
	return roundTripFunc(func(req *http.Request) (*http.Response, error) {
		var sent map[string]any
		switch req.Method {
		case http.MethodPost:
			if json.Unmarshal([]byte(readBody(req)), &sent) == nil {
				stored = sent
			}
		case http.MethodPatch:
			if json.Unmarshal([]byte(readBody(req)), &sent) == nil {
				sent, _ = mergePatched(stored, sent).(map[string]any)
			}
		}
		resp, err := next.RoundTrip(req)
		if err != nil || sent == nil || resp.StatusCode >= http.StatusBadRequest {
			return resp, err
		}
		body, err := json.Marshal(sent)
		if err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(strings.NewReader(string(body)))
		return resp, nil
	})
}

// mergePatched returns a value with a merge patch.
func mergePatched(value, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	fields, _ := value.(map[string]any)
	fields = maps.Clone(fields)
	if fields == nil {
		fields = map[string]any{}
	}
	for key, change := range changes {
		if change == nil {
			delete(fields, key)
		} else {
			fields[key] = mergePatched(fields[key], change)
		}
	}
	return fields
}

// refusals matches the cases about objects of built-in types that are refused.
var refusals = regexp.MustCompile(`^(VA-\d\d|AP-(7[7-9]|8[01]))/([^v]|v[^a]|va[^l]|val[^i]|vali[^d])`)

// All cases about objects that are refused fail against a server that does not validate.
func TestServerWithoutValidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := configInMemory(t, fakeapi.WithoutValidation())
		config.Run = refusals
		report, err := conformance.Execute(t.Context(), config)
		require.NoError(t, err)
		require.Greater(t, len(report.Results), 100)
		for _, result := range report.Results {
			assert.Equal(t, conformance.Failed, result.Outcome, result.Case.ID)
		}
	})
}
