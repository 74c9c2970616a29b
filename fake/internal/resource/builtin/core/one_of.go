package core

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/validate"
)

// moreThanOneVolumeType is the error for a second source of a volume.
const moreThanOneVolumeType = "may not specify more than 1 volume type"

// oneOf collects the errors of fields of which one may be set.
type oneOf struct {
	message string // the error for the second field
	n       int
	errs    field.ErrorList
}

// isFirst reports whether a field is the first that is set. If not, it adds an error.
func (o *oneOf) isFirst(p *validate.Path) bool {
	o.n++
	if o.n > 1 {
		o.errs = append(o.errs, p.Forbidden(o.message))
	}
	return o.n == 1
}

// add adds the errors of a field.
func (o *oneOf) add(errs field.ErrorList) { o.errs = append(o.errs, errs...) }
