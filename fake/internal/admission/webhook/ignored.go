package webhook

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"

	"example.com/fakeapi/fake/internal/admission"
)

// The library annotates failures that are ignored in the audit log. As it does not see them, they
// are annotated here.

// calledWebhooks are the calls for a write. Validating webhooks are called at the same time.
type calledWebhooks struct {
	mu    sync.Mutex
	calls []*call
}

func (w *calledWebhooks) add(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
}

// annotateIgnored annotates a failure of a mutating webhook that is ignored. The library also
// annotates that the webhook has not changed the object, as after a failure that it sees.
func (c *call) annotateIgnored() {
	attributes, round := c.tracer.attrs.Library(), 0
	if attributes.GetReinvocationContext().IsReinvoke() {
		round = 1
	}
	index := c.tracer.state.webhooks[c.webhook].index
	key := fmt.Sprintf("%sround_%d_index_%d", mutating.MutationAuditAnnotationFailedOpenKeyPrefix, round, index)
	_ = attributes.AddAnnotation(key, c.webhook.name) // the key is valid
}

// annotateIgnored annotates the failures of validating webhooks that are ignored. The index in an
// annotation is that among the webhooks that were called for the write.
func (t *tracer) annotateIgnored() {
	t.called.mu.Lock()
	defer t.called.mu.Unlock()
	slices.SortFunc(t.called.calls, func(a, b *call) int {
		return cmp.Compare(t.state.webhooks[a.webhook].index, t.state.webhooks[b.webhook].index)
	})
	for i, c := range t.called.calls {
		if c.decided != nil && c.decided.Outcome == admission.Ignored {
			key := fmt.Sprintf("%sround_0_index_%d", validating.ValidatingAuditAnnotationFailedOpenKeyPrefix, i)
			_ = t.attrs.Library().AddAnnotation(key, c.webhook.name) // the key is valid
		}
	}
}
