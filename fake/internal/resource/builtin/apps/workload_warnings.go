package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

func deploymentWarnings(d *appsv1.Deployment) []string {
	return append(validate.PodNamePrefixWarnings(d.Name), templateWarnings(&d.Spec.Template)...)
}

func deploymentUpdateWarnings(d, old *appsv1.Deployment) []string {
	return templateUpdateWarnings(&d.ObjectMeta, &old.ObjectMeta, &d.Spec.Template)
}

func replicaSetWarnings(rs *appsv1.ReplicaSet) []string {
	return append(validate.PodNamePrefixWarnings(rs.Name), templateWarnings(&rs.Spec.Template)...)
}

func replicaSetUpdateWarnings(rs, old *appsv1.ReplicaSet) []string {
	return templateUpdateWarnings(&rs.ObjectMeta, &old.ObjectMeta, &rs.Spec.Template)
}

func daemonSetWarnings(ds *appsv1.DaemonSet) []string { return templateWarnings(&ds.Spec.Template) }

// daemonSetUpdateWarnings returns the warnings for the template of an update that changes it. Those
// of other types are also for updates that change another field of the spec.
func daemonSetUpdateWarnings(ds, old *appsv1.DaemonSet) []string {
	if templateGeneration(ds) == templateGeneration(old) {
		return nil
	}
	return templateWarnings(&ds.Spec.Template)
}

func statefulSetWarnings(s *appsv1.StatefulSet) []string {
	var root *validate.Path
	warnings, templates := templateWarnings(&s.Spec.Template), root.Child("spec").Child("volumeClaimTemplates")
	for i := range s.Spec.VolumeClaimTemplates {
		warnings = append(warnings, core.PersistentVolumeClaimSpecWarnings(&s.Spec.VolumeClaimTemplates[i].Spec, templates.Index(i))...)
	}
	return append(warnings, historyLimitWarnings(s)...)
}

// statefulSetUpdateWarnings has a path for the templates of claims that differs from the one of a
// create, as that of a real server does.
func statefulSetUpdateWarnings(s, old *appsv1.StatefulSet) []string {
	var root *validate.Path
	warnings := templateUpdateWarnings(&s.ObjectMeta, &old.ObjectMeta, &s.Spec.Template)
	templates := root.Child("spec").Child("volumeClaimTemplates")
	for i := range s.Spec.VolumeClaimTemplates {
		path := templates.Index(i).Child("Spec")
		warnings = append(warnings, core.PersistentVolumeClaimSpecWarnings(&s.Spec.VolumeClaimTemplates[i].Spec, path)...)
	}
	return append(warnings, historyLimitWarnings(s)...)
}

func historyLimitWarnings(s *appsv1.StatefulSet) []string {
	if limit := s.Spec.RevisionHistoryLimit; limit == nil || *limit >= 0 {
		return nil
	}
	return []string{"spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"}
}

func templateWarnings(template *corev1.PodTemplateSpec) []string {
	var root *validate.Path
	return core.PodTemplateWarnings(template, root.Child("spec").Child("template"))
}

// templateUpdateWarnings returns the warnings for the template of an update, unless it changes only
// the metadata of the object.
func templateUpdateWarnings(meta, old *metav1.ObjectMeta, template *corev1.PodTemplateSpec) []string {
	if meta.Generation == old.Generation {
		return nil
	}
	return templateWarnings(template)
}
