package admission

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/resource"
)

// The outcomes of a Decision.
const (
	// Allowed means that the write may go on.
	Allowed = "allowed"
	// Denied means that the write was refused.
	Denied = "denied"
	// Failed means that the call or the evaluation failed and the write was refused for that.
	Failed = "failed"
	// Ignored means that the call or the evaluation failed and the write went on, because of the
	// failure policy Ignore.
	Ignored = "ignored"
	// Warned and Audited mean that a policy does not hold, and its binding has only the
	// validationActions Warn or Audit.
	Warned, Audited = "warned", "audited"
)

// Decision is what a webhook or a policy has decided about a write.
type Decision struct {
	// Plugin is the name of the admission plugin, such as MutatingAdmissionWebhook.
	Plugin string
	// Configuration is the name of the webhook configuration or of the policy's binding, and Name
	// that of the webhook or the policy.
	Configuration, Name string
	// Operation is CREATE, UPDATE, DELETE or CONNECT. Resource to ObjectName are those of the object.
	// ObjectName is "" for a new object whose name is generated.
	Operation                          string
	Resource                           schema.GroupResource
	Subresource, Namespace, ObjectName string
	// Reinvoked reports whether this is the second call for the same write.
	Reinvoked bool
	// Begin is when the call or evaluation began, and Duration how long it took.
	Begin    time.Time
	Duration time.Duration
	// Outcome is one of the constants above.
	Outcome string
	// Code is the HTTP status code of a denial, or of a failed call; 200 for Allowed and 0 if there is
	// none.
	Code int
	// ErrorType is the label error_type of a real server's metrics.
	ErrorType string
	// Message is the text of a denial or failure.
	Message string
	// Changes has the changes of the object, by mutating webhooks and policies.
	Changes []Change
	// Warnings and AuditAnnotations are those of a response.
	Warnings         []string
	AuditAnnotations map[string]string
}

// SetWrite sets the fields that say what is written.
func (d *Decision) SetWrite(attrs *Attributes) {
	d.Operation, d.Resource, d.Subresource = string(attrs.Operation), attrs.GroupResource(), attrs.Subresource
	d.Namespace, d.ObjectName = attrs.Namespace, attrs.Name
	if d.ObjectName == "" && attrs.OldObject != nil { // it is one of a collection that is deleted
		d.ObjectName = resource.Accessor(attrs.OldObject).GetName()
	}
}

// Change is one change of an object, as an operation of a JSON patch.
type Change struct {
	// Op is the operation, such as add, remove or replace. Path is a JSON pointer.
	Op, Path string
	// Value is the JSON of the new value, or the beginning of it. For move and copy it is the path of
	// the source.
	Value string
}
