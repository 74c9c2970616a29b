package clients

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	watchtools "k8s.io/client-go/tools/watch"
)

// retryWatcher is a mirror based on client-go's RetryWatcher, which resumes watches and ends if
// that is not possible.
func retryWatcher(ctx context.Context, config *rest.Config) error {
	return runMirror(ctx, config, followWithRetryWatcher)
}

func followWithRetryWatcher(ctx context.Context, m *mirror, c *objectCache, ready func()) {
	through := &cache.ListWatch{WatchFuncWithContext: m.source.Watch}
	for {
		if revision, ok := m.list(ctx, c); ok {
			ready()
			watcher, err := watchtools.NewRetryWatcherWithContext(ctx, revision, through)
			if err == nil {
				_, _ = c.applyEvents(watcher) // list again, whatever the reason
			}
		}
		if !sleep(ctx, retryDelay) {
			return
		}
	}
}

// naive is a hand-written mirror that lists once and then only watches.
func naive(ctx context.Context, config *rest.Config) error {
	return runMirror(ctx, config, followNaively)
}

func followNaively(ctx context.Context, m *mirror, c *objectCache, ready func()) {
	revision, ok := m.list(ctx, c)
	for ; !ok; revision, ok = m.list(ctx, c) {
		if !sleep(ctx, retryDelay) {
			return
		}
	}
	ready()
	for {
		watcher, err := m.source.Watch(ctx, metav1.ListOptions{ResourceVersion: revision})
		if err == nil {
			if last, _ := c.applyEvents(watcher); last != "" {
				revision = last
			}
		}
		if !sleep(ctx, retryDelay) {
			return
		}
	}
}

// watchOnly is a hand-written mirror that does not list. A watch without a resourceVersion begins
// with the existing objects.
func watchOnly(ctx context.Context, config *rest.Config) error {
	return runMirror(ctx, config, func(ctx context.Context, m *mirror, c *objectCache, ready func()) {
		ready() // it does not know when it has received all objects
		revision := ""
		for {
			watcher, err := m.source.Watch(ctx, metav1.ListOptions{ResourceVersion: revision})
			if err == nil {
				var last string
				if last, err = c.applyEvents(watcher); last != "" {
					revision = last
				}
			}
			if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
				revision = ""
			}
			if !sleep(ctx, retryDelay) {
				return
			}
		}
	})
}

// list replaces the cache by a list and returns its resourceVersion.
func (m *mirror) list(ctx context.Context, c *objectCache) (revision string, ok bool) {
	all, err := m.source.List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", false
	}
	c.replace(all.Items)
	return all.ResourceVersion, true
}

// applyEvents applies the events of a watch until it ends. It returns the resourceVersion of the
// last one, or "", and the error of the last ERROR event.
func (c *objectCache) applyEvents(w watch.Interface) (revision string, err error) {
	defer w.Stop()
	for event := range w.ResultChan() {
		if event.Type == watch.Error {
			err = apierrors.FromObject(event.Object)
		} else if o, ok := event.Object.(*corev1.ConfigMap); ok && event.Type != watch.Bookmark {
			c.set(o, event.Type != watch.Deleted)
			revision = o.ResourceVersion
		}
	}
	return revision, err
}

// pollInterval is the time between two lists of the poller.
const pollInterval = 30 * time.Second

// poller is a mirror that does not watch.
func poller(ctx context.Context, config *rest.Config) error {
	return runMirror(ctx, config, func(ctx context.Context, m *mirror, c *objectCache, ready func()) {
		list := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return m.source.List(ctx, o)
		})
		for {
			var items []corev1.ConfigMap
			err := list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
				items = append(items, *o.(*corev1.ConfigMap))
				return nil
			})
			if err == nil {
				c.replace(items)
				ready()
			}
			if !sleep(ctx, pollInterval) {
				return
			}
		}
	})
}
