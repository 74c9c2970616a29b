package perturb

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
)

// polling returns a controller that calls f every five seconds. Its errors are ignored.
func polling(f func(ctx context.Context, maps typedv1.ConfigMapInterface) error) scenario.Client {
	return func(ctx context.Context, config *rest.Config) error {
		maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
		wait.UntilWithContext(ctx, func(ctx context.Context) { _ = f(ctx, maps) }, 5*time.Second)
		return nil
	}
}

// put writes the value of a ConfigMap, which it creates if there is none.
func put(ctx context.Context, maps typedv1.ConfigMapInterface, name, value string) error {
	written := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
	_, err := maps.Update(ctx, written, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = maps.Create(ctx, written, metav1.CreateOptions{})
	}
	return err
}

// An object is found that is created again after its end.
func TestCreatedAgain(t *testing.T) {
	names, _ := findingsOf(t, failKind(), orderConfig(polling(func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); err == nil {
			return put(ctx, maps, "copy", "")
		} else if !apierrors.IsNotFound(err) {
			return err
		}
		if err := maps.Delete(ctx, "copy", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return put(ctx, maps, "copy", "") // that is the bug
		}
		return nil
	}), true))
	require.Equal(t, []string{"created configmaps default/copy (fail)"}, names)
}

// An object is found that is deleted for a moment.
func TestDeletedForAMoment(t *testing.T) {
	names, _ := findingsOf(t, failKind(), orderConfig(polling(func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); err != nil { // that is the bug
			return maps.Delete(ctx, "copy", metav1.DeleteOptions{})
		}
		return put(ctx, maps, "copy", "")
	}), false))
	require.Equal(t, []string{"deleted configmaps default/copy (fail)"}, names)
}

// An object that is deleted because one too many was created is not a finding of its own.
func TestOneTooMany(t *testing.T) {
	names, _ := findingsOf(t, failKind(), orderConfig(polling(func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
		list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "made"})
		if err != nil {
			return err
		}
		if len(list.Items) > 0 {
			for _, more := range list.Items[1:] {
				err = errors.Join(err, maps.Delete(ctx, more.Name, metav1.DeleteOptions{}))
			}
			return err
		}
		for range 2 { // that is the bug
			made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "made-", Labels: map[string]string{"made": "true"}}}
			if _, err = maps.Create(ctx, made, metav1.CreateOptions{}); err == nil {
				break
			}
		}
		return err
	}), false))
	require.Equal(t, []string{"created configmaps default/made-* (fail)"}, names)
}

// An object is found that never stops to change. It is not one that is ignored, although that
// changes later.
func TestLoopOfWrites(t *testing.T) {
	config := orderConfig(func(ctx context.Context, config *rest.Config) error {
		failed, round := false, 0
		return polling(func(ctx context.Context, maps typedv1.ConfigMapInterface) error {
			round++
			if round == 1 || failed {
				failed = put(ctx, maps, "b", fmt.Sprint(round)) != nil || failed // that is the bug
			}
			return put(ctx, maps, "beat", fmt.Sprint(round))
		})(ctx, config)
	}, false)
	config.Ignore = []string{"configmaps/beat"}
	names, _ := findingsOf(t, failKind(), config)
	require.Equal(t, []string{"loop configmaps default/b (fail)"}, names)
}
