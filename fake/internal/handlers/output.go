package handlers

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1beta1/validation"

	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
)

// endpoint tells how answers can be transformed. As Tables there are objects and
// lists, and of subresources the status and the scale: no others of a real server
// can convert what they answer.
func endpoint(res *resource.Resource, sub *resource.Subresource, collection bool) negotiate.Endpoint {
	switch {
	case res.Custom != nil:
		return negotiate.Custom
	case !res.IsStored(), sub != nil && sub.Name != "status" && sub.Name != "scale":
		return negotiate.NotTransformable
	case collection:
		return negotiate.Collection
	}
	return negotiate.Object
}

// newEncoder makes the representation of what the client accepted. What is wrong with
// the options of a Table is only told when there is something to transform: a write
// has been done by then, as on a real server.
func (a *API) newEncoder(q *request, res *resource.Resource) *encode.Encoder {
	form := encode.NewEncoder(res, q.output)
	if q.output.Form != negotiate.Table {
		return form
	}
	var opts metav1.TableOptions
	q.tableOptionsErr = q.decodeOptions(&opts)
	if errs := validation.ValidateTableOptions(&opts); q.tableOptionsErr == nil && len(errs) > 0 {
		q.tableOptionsErr = apierrors.NewBadRequest("Unable to convert to Table as requested: " + errs[0].Error()) // TB-06
	}
	form.SetTableOptions(opts.IncludeObject, a.Now)
	return form
}

// replyStatus answers with a Status that is no error: in the encoding that the client
// accepted, whatever it wanted made of an object (TB-10).
func (q *request) replyStatus(s *metav1.Status) error {
	if q.tableOptionsErr != nil {
		return q.tableOptionsErr
	}
	writeStatus(q.w, q.output, s)
	return nil
}

// checkSingleForm refuses a list form for a single object (PM-03 the other way round). That of a
// custom resource is looked at too late for a 406 (PM-04).
func (q *request) checkSingleForm() error {
	switch {
	case q.output.Form == negotiate.PartialList && q.res.Custom != nil:
		return errors.New("content is not a list")
	case q.output.Form == negotiate.PartialList:
		return status.TransformNotAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (" +
			typeName(q.res.New()) + ")")
	}
	return q.tableOptionsErr
}

// checkListForm refuses an object form for a list (PM-03).
func (q *request) checkListForm() error {
	if q.output.Form == negotiate.Partial {
		return status.TransformNotAcceptable("you requested PartialObjectMetadata, but the requested object is a list (" +
			typeName(q.res.NewList()) + ")")
	}
	return q.tableOptionsErr
}
