package resourcek8sio

import (
	"encoding/json"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateConfiguration validates the configuration of a driver, whose name the validation of tags
// validates. Parameters of any length are accepted if they are stored already.
func validateConfiguration(c *resourcev1.DeviceConfiguration, stored bool, p *validate.Path) field.ErrorList {
	at := p.Child("opaque")
	if c.Opaque == nil {
		return field.ErrorList{at.Required("")}
	}
	maxLength := resourcev1.OpaqueParametersMaxLength
	if stored {
		maxLength = len(c.Opaque.Parameters.Raw)
	}
	return validateRawObject(&c.Opaque.Parameters, maxLength, at.Child("parameters"))
}

// validateRawObject requires a JSON object.
func validateRawObject(extension *runtime.RawExtension, maxLength int, p *validate.Path) field.ErrorList {
	if len(extension.Raw) == 0 {
		return field.ErrorList{p.Required("")}
	}
	if len(extension.Raw) > maxLength {
		return field.ErrorList{p.TooLong(maxLength)}
	}
	var value any
	if err := json.Unmarshal(extension.Raw, &value); err != nil {
		return field.ErrorList{p.Invalid("<value omitted>", "error parsing data as JSON: "+err.Error())}
	}
	if value == nil {
		return field.ErrorList{p.Required("")}
	}
	if _, isObject := value.(map[string]any); !isObject {
		return field.ErrorList{p.Invalid("<value omitted>", "must be a valid JSON object")}
	}
	return nil
}
