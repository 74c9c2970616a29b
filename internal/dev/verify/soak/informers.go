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

// informer is an informer of client-go that lives over all the rounds.
type informer struct {
	kind   harness.Kind
	name   string
	shared cache.SharedIndexInformer
	stop   context.CancelFunc
	done   chan struct{}
}

// newInformers starts one for each kind at each door, which stream their lists (WatchList
// is on by default).
func newInformers(s *environment) (all []*informer) {
	for i, srv := range s.servers() {
		config := srv.RESTConfig()
		config.UserAgent, config.QPS = fmt.Sprint("informer-", i), -1
		if i == 0 {
			config.ContentType = harness.Protobuf
		}
		typed := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
		config.ContentType = ""
		untyped := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0)
		for _, k := range s.kinds {
			x := &informer{kind: k, name: fmt.Sprintf("informer of %s through door %d", k.Plural, i)}
			if k.Custom {
				x.shared = untyped.ForResource(k.Resource()).Informer()
			} else {
				generic, err := typed.ForResource(k.Resource())
				require.NoError(s.t, err)
				x.shared = generic.Informer()
			}
			// Watches that end with errors are the point: nothing is logged of them.
			ctx, stop := context.WithCancel(klog.NewContext(s.t.Context(), klog.Logger{}))
			x.stop, x.done = stop, make(chan struct{})
			go func() {
				defer close(x.done)
				x.shared.RunWithContext(ctx)
			}()
			all = append(all, x)
		}
	}
	return all
}

// close ends the informer, and returns when it has ended.
func (x *informer) close() {
	x.stop()
	<-x.done
}

// differences tells how what an informer holds differs from what there is; "" if it does not.
func (x *informer) differences(there []harness.Object) string {
	have, differences := map[string]harness.Object{}, []string{}
	for _, obj := range x.shared.GetStore().List() {
		o, err := harness.ObjectFrom(obj.(runtime.Object).DeepCopyObject())
		if err != nil {
			return fmt.Sprintf("unequal: %s: %v", x.name, err)
		}
		have[o.Key] = o
	}
	for _, o := range there {
		if got, ok := have[o.Key]; !ok || !got.Equal(o) {
			differences = append(differences, fmt.Sprintf("there is %v, it has %v", o, got))
		}
		delete(have, o.Key)
	}
	for _, o := range have {
		differences = append(differences, fmt.Sprintf("it has %v, which is not there", o))
	}
	if len(differences) == 0 {
		return ""
	}
	return fmt.Sprintf("unequal: %s: %s", x.name, strings.Join(differences, "\n"))
}

// waitUntil waits, in virtual time, until something holds.
func waitUntil(d time.Duration, holds func() bool) bool {
	for end := time.Now().Add(d); !holds(); time.Sleep(d / 100) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
