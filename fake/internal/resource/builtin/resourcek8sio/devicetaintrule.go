package resourcek8sio

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func setDeviceTaintRuleDefaults(r *resourcev1.DeviceTaintRule) {
	setTaintDefaults(&r.Spec.Taint)
}

// prepareDeviceTaintRuleForUpdate sets the time of the taint when its effect changes and the client
// does not change the time itself.
func prepareDeviceTaintRuleForUpdate(_ context.Context, r, old *resourcev1.DeviceTaintRule) {
	taint, oldTaint := &r.Spec.Taint, &old.Spec.Taint
	if taint.Effect != oldTaint.Effect && taint.TimeAdded.Equal(oldTaint.TimeAdded) {
		taint.TimeAdded = now()
	}
}

func setTaintDefaults(t *resourcev1.DeviceTaint) {
	if t.TimeAdded == nil {
		t.TimeAdded = now()
	}
}

// now returns the current time with the precision of stored objects, seconds.
func now() *metav1.Time {
	return new(metav1.Now().Rfc3339Copy())
}
