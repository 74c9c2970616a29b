package handlers

import (
	"cmp"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/status"
)

// getLog returns the error of a request for the log of a pod, which only a kubelet has: that of
// options that are not valid, that of a missing pod, container or node or, otherwise,
// status.KubeletRequired. The log of a pending pod without a node is empty.
func (a *API) getLog(q *request) error {
	options, err := decodeLogOptions(q.query())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := status.Invalid(schema.GroupKind{Kind: "PodLogOptions"}, q.info.Name, validateLogOptions(options)); err != nil {
		return err
	}
	pod, err := a.getPod(q)
	if err != nil {
		return err
	}
	if err := checkContainer(pod, options.Container); err != nil {
		return err
	}
	if isUnscheduled(pod) {
		q.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return a.rejectKubeletRequest(q, pod)
}

// decodeLogOptions returns the options of a log, which are in the query, without those that only a
// kubelet reads.
func decodeLogOptions(values url.Values) (*corev1.PodLogOptions, error) {
	options := &corev1.PodLogOptions{Container: values.Get("container")}
	if stream := values["stream"]; len(stream) > 0 {
		options.Stream = &stream[0]
	}
	number := func(name string, to **int64) error {
		texts := values[name]
		return runtime.Convert_Slice_string_To_Pointer_int64(&texts, to, nil)
	}
	sinceTime := func() error {
		texts := values["sinceTime"]
		if len(texts) == 0 {
			return nil
		}
		return metav1.Convert_Slice_string_To_Pointer_v1_Time(&texts, &options.SinceTime, nil)
	}
	return options, cmp.Or(number("sinceSeconds", &options.SinceSeconds), sinceTime(),
		number("tailLines", &options.TailLines), number("limitBytes", &options.LimitBytes))
}

// validateLogOptions returns the errors of options. A stream cannot be selected, as on a real
// server without the alpha feature PodLogsQuerySplitStreams.
func validateLogOptions(o *corev1.PodLogOptions) (errs field.ErrorList) {
	const isNotPositive = "must be greater than 0"
	if o.TailLines != nil && *o.TailLines < 0 {
		errs = append(errs, field.Invalid(field.NewPath("tailLines"), *o.TailLines, "must be greater than or equal to 0"))
	}
	if o.LimitBytes != nil && *o.LimitBytes < 1 {
		errs = append(errs, field.Invalid(field.NewPath("limitBytes"), *o.LimitBytes, isNotPositive))
	}
	switch {
	case o.SinceSeconds != nil && o.SinceTime != nil:
		errs = append(errs, field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	case o.SinceSeconds != nil && *o.SinceSeconds < 1:
		errs = append(errs, field.Invalid(field.NewPath("sinceSeconds"), *o.SinceSeconds, isNotPositive))
	}
	if o.Stream != nil {
		errs = append(errs, field.Forbidden(field.NewPath("stream"), "may not be specified"))
	}
	return errs
}
