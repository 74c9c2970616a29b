package apps

import (
	"context"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/core"
)

func setDaemonSetDefaults(ds *appsv1.DaemonSet) {
	strategy := &ds.Spec.UpdateStrategy
	if strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	rolling := strategy.Type == appsv1.RollingUpdateDaemonSetStrategyType
	if rolling && strategy.RollingUpdate == nil {
		strategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
	}
	if update := strategy.RollingUpdate; update != nil {
		if update.MaxUnavailable == nil {
			update.MaxUnavailable = new(intstr.FromInt32(0))
			if rolling {
				*update.MaxUnavailable = intstr.FromInt32(1)
			}
		}
		if update.MaxSurge == nil {
			update.MaxSurge = new(intstr.FromInt32(0))
		}
	}
	if ds.Spec.RevisionHistoryLimit == nil {
		ds.Spec.RevisionHistoryLimit = new(int32(10))
	}
	core.SetDefaultsPodTemplateSpec(&ds.Spec.Template)
}

// The generation of the template was a field of the spec before apps/v1, and is an annotation now.
// Clients set its first value only.

// checkDaemonSet returns the error for a generation of the template that is not a number.
func checkDaemonSet(ds *appsv1.DaemonSet) error {
	text, ok := ds.Annotations[appsv1.DeprecatedTemplateGeneration]
	if !ok {
		return nil
	}
	_, err := strconv.ParseInt(text, 10, 64)
	return err
}

// canonicalizeDaemonSet adds the annotation, with 0 if a client sends none, as the conversion of a
// real server does. The manager of such a create or update owns it.
func canonicalizeDaemonSet(ds *appsv1.DaemonSet) { setTemplateGeneration(ds, templateGeneration(ds)) }

func prepareDaemonSetForCreate(_ context.Context, ds *appsv1.DaemonSet) {
	setTemplateGeneration(ds, max(1, templateGeneration(ds)))
	core.DropDisabledTemplateFields(&ds.Spec.Template, nil)
}

func prepareDaemonSetForUpdate(_ context.Context, ds, old *appsv1.DaemonSet) {
	core.DropDisabledTemplateFields(&ds.Spec.Template, &old.Spec.Template)
	generation := templateGeneration(old)
	if !equality.Semantic.DeepEqual(&ds.Spec.Template, &old.Spec.Template) {
		generation++
	}
	setTemplateGeneration(ds, generation)
}

// daemonSetStatusSubresource keeps the generation of the template.
func daemonSetStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource()
	s.PrepareForUpdate = resource.OnUpdate(func(_ context.Context, ds, old *appsv1.DaemonSet) {
		ds.Spec = old.Spec
		setTemplateGeneration(ds, templateGeneration(old))
	})
	return s
}

// templateGeneration returns the generation of the template, 0 if the annotation is not a number.
func templateGeneration(ds *appsv1.DaemonSet) int64 {
	generation, err := strconv.ParseInt(ds.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return generation
}

func setTemplateGeneration(ds *appsv1.DaemonSet, generation int64) {
	setNumber(&ds.ObjectMeta, appsv1.DeprecatedTemplateGeneration, generation)
}

// setNumber sets an annotation to a number.
func setNumber(meta *metav1.ObjectMeta, key string, number int64) {
	text := strconv.FormatInt(number, 10)
	if meta.Annotations[key] == text {
		return
	}
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	meta.Annotations[key] = text
}
