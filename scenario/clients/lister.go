package clients

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
)

// pageSize is the limit of the listers' requests.
const pageSize = 2

// pagingLister lists with client-go's pager.
func pagingLister(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	list := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().ConfigMaps("default").List(ctx, o)
	})
	list.PageSize = pageSize
	var names []string
	err = retryOnError(ctx, func(ctx context.Context) error {
		names = nil
		all, _, err := list.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return meta.EachListItem(all, func(o runtime.Object) error {
			names = append(names, o.(metav1.Object).GetName())
			return nil
		})
	})
	if err != nil {
		return err
	}
	return writeReport(ctx, client, names)
}

// manualLister is a hand-written lister. It assumes that all pages but the last are full and that
// continue tokens do not expire.
func manualLister(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var names []string
	next := ""
	for {
		page, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{Limit: pageSize, Continue: next})
		if err != nil {
			return err
		}
		for _, o := range page.Items {
			names = append(names, o.Name)
		}
		if next = page.Continue; next == "" || len(page.Items) < pageSize {
			return writeReport(ctx, client, names)
		}
	}
}

// resumingLister continues with the token in a 410 response, and restarts the list after other
// errors.
func resumingLister(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var names []string
	err = retryOnError(ctx, func(ctx context.Context) error {
		names = nil
		for options := (metav1.ListOptions{Limit: pageSize}); ; {
			page, err := client.CoreV1().ConfigMaps("default").List(ctx, options)
			if status := (apierrors.APIStatus)(nil); errors.As(err, &status) && status.Status().Continue != "" {
				options.Continue = status.Status().Continue
				continue
			}
			if err != nil {
				return err
			}
			for _, o := range page.Items {
				names = append(names, o.Name)
			}
			if options.Continue = page.Continue; options.Continue == "" {
				return nil
			}
		}
	})
	if err != nil {
		return err
	}
	return writeReport(ctx, client, names)
}

// writeReport writes the names that were listed.
func writeReport(ctx context.Context, client kubernetes.Interface, names []string) error {
	slices.Sort(names)
	report := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "report"},
		Data:       map[string]string{"text": strings.Join(names, ",")},
	}
	maps := client.CoreV1().ConfigMaps("mirror")
	return retryOnError(ctx, func(ctx context.Context) error {
		_, err := maps.Create(ctx, report, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			_, err = maps.Update(ctx, report, metav1.UpdateOptions{})
		}
		return err
	})
}
