package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/responsewriter"
)

// Allow answers in place of an admission webhook, which is not called: the request is allowed. The
// rules of the Committed phase act on this response, as on one of the webhook. With Allow a test
// needs no server for the webhook.
func Allow() Effect { return verdict{word: "allow", allowed: true} }

// Deny answers in place of an admission webhook, which is not called: the request is denied with a
// message, which may be "".
func Deny(message string) Effect { return verdict{word: "deny", message: message} }

// Patch answers in place of an admission webhook, which is not called: the request is allowed with
// changes of the object, given as a JSON merge patch (RFC 7386), for instance
// {"metadata":{"labels":{"injected":"true"}}}. It has no effect on requests without an object.
func Patch(merge string) Effect {
	e := verdict{word: "patch", allowed: true}
	value, err := canonicalJSON([]byte(merge))
	if err == nil {
		d := json.NewDecoder(strings.NewReader(value))
		d.UseNumber()
		err = d.Decode(&e.merge)
	}
	if err == nil && e.merge == nil {
		err = errors.New("it is null")
	}
	if e.message = value; err != nil {
		e.err = fmt.Errorf("patch takes a JSON object, a merge patch, not %q: %w", merge, err)
	}
	return e
}

// verdict is the answer of an admission webhook.
type verdict struct {
	word    string // the name of the effect
	allowed bool
	message string         // of deny, or the merge patch of patch
	merge   map[string]any // of patch
	err     error          // of parsing the merge patch
}

// String returns the text of the effect in a rule.
func (e verdict) String() string {
	if e.word == "allow" {
		return e.word
	}
	return callText(e.word, quote(e.message))
}
func (verdict) isFinal() bool  { return false }
func (e verdict) check() error { return e.err }
func (verdict) webhookOnly()   {}

func (e verdict) applyBefore(x *exchange) outcome {
	body, err := x.readBody()
	var review []byte
	if err == nil {
		review, err = e.respond(body)
	}
	if err != nil {
		x.notApplied = err.Error()
		reason := fmt.Errorf("the effect %s cannot be applied: %w", e, err)
		writeStatus(x.w, x.r, completeStatus(apierrors.NewInternalError(reason).Status(), x.op))
		return finished
	}
	x.answer = &bufferedResponse{responsewriter.NewBuffer(http.Header{"Content-Type": {runtime.ContentTypeJSON}})}
	x.answer.Code = http.StatusOK
	x.answer.setBody(review)
	return proceed
}

// admissionReview is the part of an AdmissionReview that verdicts use.
type admissionReview struct {
	metav1.TypeMeta `json:",inline"`
	Request         *admissionRequest  `json:"request,omitempty"`
	Response        *admissionResponse `json:"response,omitempty"`
}

type admissionRequest struct {
	UID    string         `json:"uid"`
	Object map[string]any `json:"object"`
}

type admissionResponse struct {
	UID       string         `json:"uid"`
	Allowed   bool           `json:"allowed"`
	Status    *metav1.Status `json:"status,omitempty"`
	Patch     []byte         `json:"patch,omitempty"`
	PatchType string         `json:"patchType,omitempty"`
}

// respond returns the response to an AdmissionReview.
func (e verdict) respond(body []byte) ([]byte, error) {
	var review admissionReview
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	if review.Kind != "AdmissionReview" {
		return nil, fmt.Errorf("the webhook is called with a %s, not with an AdmissionReview", review.Kind)
	}
	if review.Request == nil {
		return nil, errors.New("the AdmissionReview has no request")
	}
	response := &admissionResponse{UID: review.Request.UID, Allowed: e.allowed}
	if !e.allowed && e.message != "" {
		response.Status = &metav1.Status{Message: e.message, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden}
	}
	if object := review.Request.Object; e.merge != nil && object != nil {
		patch, err := json.Marshal(appendOperations([]operation{}, "", object, e.merge))
		if err != nil {
			return nil, err
		}
		response.Patch, response.PatchType = patch, "JSONPatch"
	}
	return json.Marshal(&admissionReview{TypeMeta: review.TypeMeta, Response: response})
}

// operation is an operation of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"` // ignored by remove
}

// appendOperations appends the operations that change the fields at a JSON pointer as merge does.
func appendOperations(operations []operation, at string, fields, merge map[string]any) []operation {
	for _, key := range slices.Sorted(maps.Keys(merge)) {
		path := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		current, exists := fields[key]
		nested, isObject := current.(map[string]any)
		switch wanted := merge[key].(type) {
		case nil:
			if exists {
				operations = append(operations, operation{Op: "remove", Path: path})
			}
		case map[string]any:
			if !isObject {
				operations = append(operations, operation{Op: "add", Path: path, Value: map[string]any{}})
			}
			operations = appendOperations(operations, path, nested, wanted)
		default:
			operations = append(operations, operation{Op: "add", Path: path, Value: wanted})
		}
	}
	return operations
}
