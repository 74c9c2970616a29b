package golden

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"strconv"
	"strings"
)

// webhookScript is how the Webhook of cases responds. The zero value allows.
type webhookScript struct {
	// DelayMs is the time before the response, in milliseconds. Close closes the connection instead
	// of a response.
	DelayMs int  `json:"delayMs"`
	Close   bool `json:"close"`
	// Status, ContentType and Location are those of the response. Text is its body, instead of a
	// review.
	Status      int     `json:"status"`
	ContentType string  `json:"contentType"`
	Location    string  `json:"location"`
	Text        *string `json:"text"`
	// APIVersion and Kind are those of the review, if they are not those of the request. NoResponse
	// leaves out its response.
	APIVersion *string `json:"apiVersion"`
	Kind       *string `json:"kind"`
	NoResponse bool    `json:"noResponse"`
	// Patch is a JSON patch, PatchText one as text. PatchType is its type, "" for none; the default
	// is JSONPatch.
	Patch     json.RawMessage `json:"patch"`
	PatchText *string         `json:"patchText"`
	PatchType *string         `json:"patchType"`
	// Response has further fields of the response.
	Response map[string]any `json:"response"`
	// Answers are the scripts of successive calls. The last one stays.
	Answers []*webhookScript `json:"answers"`

	calls int
}

// next returns the script of the next call, nil for nil.
func (s *webhookScript) next() *webhookScript {
	if s == nil || len(s.Answers) == 0 {
		return s
	}
	s.calls++
	return s.Answers[min(s.calls, len(s.Answers))-1]
}

// answer returns the review with the response.
func (s *webhookScript) answer(review map[string]any) map[string]any {
	answer := map[string]any{"apiVersion": review["apiVersion"], "kind": review["kind"]}
	if s.APIVersion != nil {
		answer["apiVersion"] = *s.APIVersion
	}
	if s.Kind != nil {
		answer["kind"] = *s.Kind
	}
	if s.NoResponse {
		return answer
	}
	request, _ := review["request"].(map[string]any)
	response := map[string]any{"uid": request["uid"], "allowed": true}
	patch := []byte(s.Patch)
	if s.PatchText != nil {
		patch = []byte(*s.PatchText)
	}
	if len(patch) > 0 {
		response["patch"], response["patchType"] = base64.StdEncoding.EncodeToString(patch), "JSONPatch"
	}
	if s.PatchType != nil {
		response["patchType"] = *s.PatchType
		if *s.PatchType == "" {
			delete(response, "patchType")
		}
	}
	maps.Copy(response, s.Response)
	answer["response"] = response
	return answer
}

// webhookBehavior returns the script for a path NAME/KEY=VALUE..., nil if the name is unknown.
func webhookBehavior(path string) *webhookScript {
	name, rest, _ := strings.Cut(path, "/")
	values := url.Values{}
	for part := range strings.SplitSeq(rest, "/") {
		if key, value, ok := strings.Cut(part, "="); ok {
			values.Add(key, value)
		}
	}
	switch name {
	case "allow":
		return &webhookScript{}
	case "deny":
		return denial(values)
	case "deny-noreason":
		return &webhookScript{Response: map[string]any{"allowed": false}}
	case "patch":
		text := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(values.Get("p")), "=")
		patch, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil {
			return nil
		}
		return &webhookScript{PatchText: new(string(patch))}
	case "label":
		return &webhookScript{Patch: labelPatch(values.Get("key"), values.Get("value"))}
	case "warn":
		return &webhookScript{Response: map[string]any{"warnings": values["w"]}}
	case "audit":
		annotations := map[string]any{}
		for key := range values {
			annotations[key] = values.Get(key)
		}
		return &webhookScript{Response: map[string]any{"auditAnnotations": annotations}}
	case "slow":
		delay, _ := strconv.Atoi(values.Get("ms"))
		return &webhookScript{DelayMs: delay}
	}
	return brokenBehaviors()[name]
}

// brokenBehaviors returns behaviors that are errors of the webhook.
func brokenBehaviors() map[string]*webhookScript {
	return map[string]*webhookScript{
		"garbage":           {Text: new("this is not a review")},
		"empty":             {Text: new("")},
		"status500":         {Status: 500, ContentType: "text/plain", Text: new("something broke")},
		"redirect":          {Status: 302, Location: "https://127.0.0.1:1/elsewhere", Text: new("")},
		"close":             {Close: true},
		"wronguid":          {Response: map[string]any{"uid": "00000000-0000-0000-0000-000000000000"}},
		"wrongkind":         {Kind: new("SomethingElse")},
		"wrongversion":      {APIVersion: new("admission.k8s.io/v9")},
		"v1beta1":           {APIVersion: new("admission.k8s.io/v1beta1")},
		"noresponse":        {NoResponse: true},
		"badpatch":          {PatchText: new("not a patch")},
		"patchtype-missing": {Patch: labelPatch("patched", "yes"), PatchType: new("")},
	}
}

// denial returns a script that refuses, with the message, reason, status and code in values.
func denial(values url.Values) *webhookScript {
	status := map[string]any{}
	for _, key := range []string{"message", "reason", "status"} {
		if values.Has(key) {
			status[key] = values.Get(key)
		}
	}
	if code, err := strconv.Atoi(values.Get("code")); err == nil {
		status["code"] = code
	}
	return &webhookScript{Response: map[string]any{"allowed": false, "status": status}}
}

// labelPatch returns a JSON patch that sets the labels to one label.
func labelPatch(key, value string) json.RawMessage {
	patch, _ := json.Marshal([]any{map[string]any{"op": "add", "path": "/metadata/labels", "value": map[string]string{key: value}}})
	return patch
}
