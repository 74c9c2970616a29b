package handlers

import (
	"net/http"
)

// review answers a review of the groups authorization.k8s.io and authentication.k8s.io. Nothing is
// stored (VR-01).
func (a *API) review(q *request) error {
	_, obj, admission, err := a.decodePost(q)
	if err != nil {
		return err
	}
	obj, err = a.reviewer.Review(q.r.Context(), obj, func() error { return admission.validate(obj, nil) })
	if err != nil {
		return err
	}
	return q.replyObject(http.StatusCreated, obj)
}
