package webhook

import (
	"fmt"
	"mime"
	"net/http"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	admissionmetrics "k8s.io/apiserver/pkg/admission/metrics"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	webhookrequest "k8s.io/apiserver/pkg/admission/plugin/webhook/request"

	"example.com/fakeapi/fake/internal/admission"
)

// decision returns what the webhook has decided, after the call. The library decides the same from
// the same response.
func (c *call) decision() admission.Decision {
	attrs := c.tracer.attrs
	d := admission.Decision{
		Plugin: c.tracer.plugin.name, Configuration: c.webhook.configuration, Name: c.webhook.name,
		Reinvoked: attrs.Library().GetReinvocationContext().IsReinvoke(),
		Begin:     c.begin, Duration: time.Since(c.begin),
		Outcome: admission.Allowed, Code: http.StatusOK,
	}
	d.SetWrite(attrs)
	code, err := c.failure()
	if err != nil {
		return c.failed(d, code, err)
	}
	response, err := c.response()
	if err != nil {
		return c.failed(d, http.StatusServiceUnavailable, fmt.Errorf("received invalid webhook response: %w", err))
	}
	d.Warnings, d.AuditAnnotations = response.Warnings, response.AuditAnnotations
	switch {
	case !response.Allowed:
		refusal := webhookerrors.ToStatusErr(c.webhook.name, response.Result)
		d.Outcome, d.Code, d.Message = admission.Denied, int(refusal.ErrStatus.Code), refusal.Error()
		d.ErrorType = string(admissionmetrics.WebhookRejectionNoError)
	case c.patched:
		d.Changes = patchOperations(response.Patch)
	case len(response.Patch) > 0:
		return c.unpatched(d, response)
	}
	return d
}

// failure returns the error of a call without a response to verify, and the code that the library
// gives it.
func (c *call) failure() (code int, err error) {
	if c.err != nil {
		return http.StatusServiceUnavailable, c.err
	}
	if c.contentType != "" {
		if _, _, err := mime.ParseMediaType(c.contentType); err != nil {
			return http.StatusInternalServerError, err
		}
	}
	if c.code < http.StatusOK || c.code > http.StatusPartialContent {
		return c.code, fmt.Errorf("the webhook responded with %d %s", c.code, http.StatusText(c.code))
	}
	return 0, nil
}

// failed returns the decision for a call that failed.
func (c *call) failed(d admission.Decision, code int, err error) admission.Decision {
	d.Outcome, d.Code, d.Message = admission.Failed, code, err.Error()
	d.ErrorType = string(admissionmetrics.WebhookRejectionCallingWebhookError)
	if c.tracer.state.webhooks[c.webhook].ignores {
		d.Outcome = admission.Ignored
	}
	return d
}

// unpatched returns the decision for a response with a patch that was not applied: because it has
// no operations, does not decode, is of another type, or does not fit the object.
func (c *call) unpatched(d admission.Decision, response *webhookrequest.AdmissionResponse) admission.Decision {
	decoded, err := jsonpatch.DecodePatch(response.Patch)
	switch {
	case err != nil:
		return c.failed(d, http.StatusServiceUnavailable, fmt.Errorf("received undecodable patch in webhook response: %w", err))
	case len(decoded) == 0:
		return d
	case response.PatchType != admissionv1.PatchTypeJSONPatch && c.tracer.attrs.Library().GetObject() != nil:
		status := webhookerrors.ToStatusErr(c.webhook.name, response.Result).ErrStatus
		return c.failed(d, int(status.Code), fmt.Errorf("unsupported patch type %q", response.PatchType))
	}
	d.Outcome, d.Code, d.Message = admission.Failed, 0, "the patch cannot be applied to the object"
	d.ErrorType = string(admissionmetrics.WebhookRejectionAPIServerInternalError)
	return d
}

// response returns the verified response. It is decoded as the library decodes it, into a review of
// the version that was sent.
func (c *call) response() (*webhookrequest.AdmissionResponse, error) {
	var review runtime.Object = &admissionv1.AdmissionReview{}
	if c.tracer.state.webhooks[c.webhook].reviewVersion == admissionv1beta1.SchemeGroupVersion.Version {
		review = &admissionv1beta1.AdmissionReview{}
	}
	if _, _, err := reviewDecoder().Decode(c.body, nil, review); err != nil {
		return nil, err
	}
	return webhookrequest.VerifyAdmissionResponse(c.uid, c.tracer.plugin.name == mutating.PluginName, review)
}

// reviewDecoder returns the decoder of AdmissionReviews in all of their versions, which is that of
// the library's clients.
var reviewDecoder = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	utilruntime.Must(admissionv1.AddToScheme(scheme))
	utilruntime.Must(admissionv1beta1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme).LegacyCodec(admissionv1beta1.SchemeGroupVersion, admissionv1.SchemeGroupVersion)
})
