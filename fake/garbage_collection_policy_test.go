package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// podsOnce is a template that Jobs and ReplicationControllers accept.
var podsOnce = corev1.PodTemplateSpec{
	ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
	Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
}

// The delete of a Job orphans its Pods unless the options have a policy, and warns about that.
func TestDeleteJob(t *testing.T) {
	const warning = "child pods are preserved by default when jobs are deleted; " +
		"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"
	background, orphan, foreground := metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan, metav1.DeletePropagationForeground
	for name, c := range map[string]struct {
		opts       metav1.DeleteOptions
		collection bool
		finalizers []string // nil if the Job is removed
		warnings   []string
	}{
		"without policy":            {metav1.DeleteOptions{}, false, []string{"orphan"}, []string{warning}},
		"collection without policy": {metav1.DeleteOptions{}, true, []string{"orphan"}, []string{warning}},
		"orphan":                    {metav1.DeleteOptions{PropagationPolicy: &orphan}, false, []string{"orphan"}, nil},
		"foreground":                {metav1.DeleteOptions{PropagationPolicy: &foreground}, false, []string{"foregroundDeletion"}, nil},
		"background":                {metav1.DeleteOptions{PropagationPolicy: &background}, false, nil, nil},
		"background collection":     {metav1.DeleteOptions{PropagationPolicy: &background}, true, nil, nil},
		"orphanDependents=false":    {metav1.DeleteOptions{OrphanDependents: new(false)}, false, nil, nil}, //lint:ignore SA1019 old clients send it
	} {
		t.Run(name, func(t *testing.T) {
			config, warnings := fakeapi.Start(t, fakeapi.WithoutControllers()).RESTConfig(), &warningTexts{}
			config.WarningHandler = warnings
			jobs := kubernetes.NewForConfigOrDie(config).BatchV1().Jobs("default")
			_, err := jobs.Create(t.Context(), &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Name: "j"}, Spec: batchv1.JobSpec{Template: podsOnce},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			if c.collection {
				require.NoError(t, jobs.DeleteCollection(t.Context(), c.opts, metav1.ListOptions{}))
			} else {
				require.NoError(t, jobs.Delete(t.Context(), "j", c.opts))
			}
			assert.Equal(t, c.warnings, warnings.texts)
			job, err := jobs.Get(t.Context(), "j", metav1.GetOptions{})
			if c.finalizers == nil {
				require.True(t, apierrors.IsNotFound(err), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.finalizers, job.Finalizers)
			assert.NotNil(t, job.DeletionTimestamp)
		})
	}
}

// The delete of a ReplicationController orphans its Pods by default.
func TestDeleteReplicationController(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutControllers())
	controllers := kubernetes.NewForConfigOrDie(srv.RESTConfig()).CoreV1().ReplicationControllers("default")
	_, err := controllers.Create(t.Context(), &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Name: "rc"},
		Spec:       corev1.ReplicationControllerSpec{Template: &newDeployment("rc").Spec.Template},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, controllers.Delete(t.Context(), "rc", metav1.DeleteOptions{}))
	rc, err := controllers.Get(t.Context(), "rc", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{metav1.FinalizerOrphanDependents}, rc.Finalizers)
}

// Events have no dependents: the propagation policy and the collector's finalizers are ignored.
func TestDeleteEvent(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithoutControllers())
	client := kubernetes.NewForConfigOrDie(srv.RESTConfig())
	foreground := metav1.DeletePropagationForeground
	for name, remove := range map[string]func() error{
		"core": func() error {
			return client.CoreV1().Events("default").Delete(t.Context(), "e", metav1.DeleteOptions{PropagationPolicy: &foreground})
		},
		"events.k8s.io": func() error {
			return client.EventsV1().Events("default").Delete(t.Context(), "e", metav1.DeleteOptions{PropagationPolicy: &foreground})
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.CoreV1().Events("default").Create(t.Context(), &corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{Name: "e", Finalizers: []string{metav1.FinalizerOrphanDependents}},
				InvolvedObject: corev1.ObjectReference{Namespace: "default"},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			require.NoError(t, remove())
			_, err = client.CoreV1().Events("default").Get(t.Context(), "e", metav1.GetOptions{})
			require.True(t, apierrors.IsNotFound(err), "%v", err)
		})
	}
}

// The garbage collector deletes a Job of an absent owner with its dependents.
func TestCollectJob(t *testing.T) {
	withControllers(t, func(p *controllersTest) {
		owner := p.createOwned("owner")
		jobs := p.client.BatchV1().Jobs("default")
		job, err := jobs.Create(p.Context(), &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "j", OwnerReferences: []metav1.OwnerReference{ownerReference(owner, true)}},
			Spec:       batchv1.JobSpec{Template: podsOnce},
		}, metav1.CreateOptions{})
		require.NoError(p, err)
		p.createOwned("dependent", metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: types.UID(job.UID)})
		p.delete("owner", metav1.DeletePropagationBackground)
		p.requireRemaining()
		_, err = jobs.Get(p.Context(), "j", metav1.GetOptions{})
		require.True(p, apierrors.IsNotFound(err), "%v", err)
	})
}
