package handlers

import (
	"fmt"
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/encode"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/memstore"
)

// componentStatuses returns what a kube-apiserver finds out about the components of a control plane
// that has only an etcd: it cannot connect to the scheduler and the controller manager.
func componentStatuses() []corev1.ComponentStatus {
	component := func(name string, status corev1.ConditionStatus, message string) corev1.ComponentStatus {
		return corev1.ComponentStatus{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Conditions: []corev1.ComponentCondition{{Type: corev1.ComponentHealthy, Status: status, Message: message}},
		}
	}
	refused := func(port int) string {
		return fmt.Sprintf(`Get "https://127.0.0.1:%d/healthz": dial tcp 127.0.0.1:%[1]d: connect: connection refused`, port)
	}
	return []corev1.ComponentStatus{
		component("scheduler", corev1.ConditionFalse, refused(10259)),
		component("controller-manager", corev1.ConditionFalse, refused(10257)),
		component("etcd-0", corev1.ConditionTrue, "ok"),
	}
}

// componentRecords returns componentStatuses as records, for selectors and Tables. They are in a
// store of their own.
var componentRecords = sync.OnceValues(func() (records []*memstore.Record, err error) {
	res := builtin.Table().Lookup("", "v1", "componentstatuses")
	store := memstore.New(memstore.Options{})
	for _, status := range componentStatuses() {
		draft, err := codec.EncodeDraft(res, &status, nil)
		if err != nil {
			return nil, err
		}
		event, err := store.Update(codec.Key(res, "", status.Name), func(*memstore.Record) (*memstore.Draft, error) { return draft, nil })
		if err != nil {
			return nil, err
		}
		records = append(records, event.Record)
	}
	return records, nil
})

// getComponentStatus returns the status of a component. It is not stored.
func (a *API) getComponentStatus(q *request) error {
	for _, status := range componentStatuses() {
		if status.Name == q.info.Name {
			return q.replyObject(http.StatusOK, &status)
		}
	}
	//lint:ignore ST1005 the text of a real server
	return fmt.Errorf("Component not found: %s", q.info.Name)
}

// listComponentStatuses returns the status of all selected components.
func (a *API) listComponentStatuses(q *request) error {
	_, sel, err := q.decodeListOptions(a.watchList.Load())
	if err != nil {
		return err
	}
	if err := q.checkListForm(); err != nil {
		return err
	}
	records, err := componentRecords()
	if err != nil {
		return err
	}
	list := &corev1.ComponentStatusList{Items: []corev1.ComponentStatus{}}
	list.SetGroupVersionKind(q.res.ListGroupVersionKind())
	var selected []*memstore.Record
	for i, status := range componentStatuses() {
		isSelected, err := sel.matches(records[i])
		if err != nil {
			return err
		}
		if isSelected {
			list.Items, selected = append(list.Items, status), append(selected, records[i])
		}
	}
	if q.output.Form != negotiate.Full {
		return q.encoder.WriteList(q.w, metav1.ListMeta{}, selected)
	}
	body, err := encode.EncodeDocument(q.output, list)
	if err != nil {
		return err
	}
	_ = q.writeBody(http.StatusOK, body)
	return nil
}

// watchComponentStatuses returns the error of a watch of what is not stored.
func (a *API) watchComponentStatuses(q *request) error {
	if _, _, err := q.decodeListOptions(a.watchList.Load()); err != nil {
		return err
	}
	return apierrors.NewMethodNotSupported(q.res.GroupResource(), requestinfo.Watch)
}
