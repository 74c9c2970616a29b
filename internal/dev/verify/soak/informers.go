package soak

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// informer is a shared informer that runs over all rounds.
type informer struct {
	kind   harness.Kind
	name   string
	shared cache.SharedIndexInformer
	stop   context.CancelFunc
	done   chan struct{}
}

// newInformers starts an informer for each kind on the server and on the replica. They use
// streaming lists, which is the default (WatchList).
func newInformers(e *environment) (all []*informer) {
	for i, srv := range e.servers() {
		config := srv.RESTConfig()
		config.UserAgent, config.QPS = fmt.Sprint("informer-", i), -1
		if i == 0 {
			config.ContentType = harness.Protobuf
		}
		typed := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
		config.ContentType = ""
		untyped := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0)
		for _, k := range e.kinds {
			inf := &informer{kind: k, name: fmt.Sprintf("informer of %s on server %d", k.Plural, i)}
			if k.Custom {
				inf.shared = untyped.ForResource(k.Resource()).Informer()
			} else {
				generic, err := typed.ForResource(k.Resource())
				require.NoError(e.t, err)
				inf.shared = generic.Informer()
			}
			// Watches are expected to end with errors, which are not logged.
			ctx, stop := context.WithCancel(klog.NewContext(e.t.Context(), klog.Logger{}))
			inf.stop, inf.done = stop, make(chan struct{})
			go func() {
				defer close(inf.done)
				inf.shared.RunWithContext(ctx)
			}()
			all = append(all, inf)
		}
	}
	return all
}

// close stops the informer and waits until it has ended.
func (i *informer) close() {
	i.stop()
	<-i.done
}

// differences describes how the store of the informer differs from the objects of the server, or
// returns "".
func (i *informer) differences(there []harness.Object) string {
	have, differences := map[string]harness.Object{}, []string{}
	for _, obj := range i.shared.GetStore().List() {
		o, err := harness.ObjectFrom(obj.(runtime.Object).DeepCopyObject())
		if err != nil {
			return fmt.Sprintf("different store: %s: %v", i.name, err)
		}
		have[o.Key] = o
	}
	for _, o := range there {
		if got, ok := have[o.Key]; !ok || !got.Equal(o) {
			differences = append(differences, fmt.Sprintf("the server has %v, it has %v", o, got))
		}
		delete(have, o.Key)
	}
	for _, o := range have {
		differences = append(differences, fmt.Sprintf("it has %v, which the server does not have", o))
	}
	if len(differences) == 0 {
		return ""
	}
	return fmt.Sprintf("different store: %s: %s", i.name, strings.Join(differences, "\n"))
}

// waitUntil polls, on virtual time, until holds returns true or d has passed. It returns the last
// result.
func waitUntil(d time.Duration, holds func() bool) bool {
	for end := time.Now().Add(d); !holds(); time.Sleep(d / 100) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
