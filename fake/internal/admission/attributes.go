package admission

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apiserver/pkg/admission"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"

	"example.com/fakeapi/fake/internal/authn"
)

// LibraryAttributes are Attributes in the form of k8s.io/apiserver/pkg/admission. The object of the
// one is that of the other. Annotations and the state of reinvocation are those of one pass of the
// mutating or of the validating plugins.
type LibraryAttributes struct {
	library.Attributes
	own *Attributes

	mu          sync.Mutex
	annotations map[string]string
	// levels has the lowest level of the audit log that has each of the annotations.
	levels map[string]auditinternal.Level
	// current is what the plugin that runs considers now. Only it uses the value.
	current any
}

// Library returns the attributes in the form of the API server's plugins. All plugins of one pass
// get the same value.
func (a *Attributes) Library() *LibraryAttributes {
	if a.library == nil {
		kind, gvr := a.Resource.GroupVersionKind(), a.RequestResource().GroupVersionResource()
		a.library = &LibraryAttributes{own: a, Attributes: library.NewAttributesRecord(
			nil, nil, kind, a.Namespace, a.Name, gvr, a.Subresource, library.Operation(a.Operation), a.Options, a.DryRun, authn.NewInfo(a.User),
		)}
	}
	return a.library
}

// IsReviewed reports whether a plugin for webhooks or policies has looked at the write in the
// current pass. It may have changed the object.
func (a *Attributes) IsReviewed() bool { return a.library != nil }

// GetName implements library.Attributes. A mutating plugin may have set or changed the name.
func (l *LibraryAttributes) GetName() string { return l.own.Name }

// GetObject implements library.Attributes.
func (l *LibraryAttributes) GetObject() runtime.Object { return l.own.Object }

// GetOldObject implements library.Attributes.
func (l *LibraryAttributes) GetOldObject() runtime.Object { return l.own.OldObject }

// AddAnnotation implements library.Attributes.
func (l *LibraryAttributes) AddAnnotation(key, value string) error {
	return l.AddAnnotationWithLevel(key, value, auditinternal.LevelMetadata)
}

// AddAnnotationWithLevel implements library.Attributes.
func (l *LibraryAttributes) AddAnnotationWithLevel(key, value string, level auditinternal.Level) error {
	if err := l.Attributes.AddAnnotationWithLevel(key, value, level); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.annotations == nil {
		l.annotations, l.levels = make(map[string]string), make(map[string]auditinternal.Level)
	}
	l.annotations[key], l.levels[key] = value, level
	return nil
}

// SetCurrent and Current keep a value for the plugin that runs, such as the binding of the policy
// that it evaluates.
func (l *LibraryAttributes) SetCurrent(value any) { l.current = value }

// Current returns the value of SetCurrent.
func (l *LibraryAttributes) Current() any { return l.current }

// Own returns the Attributes of which these are another form.
func (l *LibraryAttributes) Own() *Attributes { return l.own }

// Annotations returns the audit annotations that plugins have added in this pass.
func (a *Attributes) Annotations() map[string]string {
	if a.library == nil {
		return nil
	}
	a.library.mu.Lock()
	defer a.library.mu.Unlock()
	return a.library.annotations
}

// logAnnotations adds the annotations of this pass to the audit log.
func (a *Attributes) logAnnotations(ctx context.Context) {
	event := audit.AuditContextFrom(ctx)
	if a.library == nil || !event.Enabled() {
		return
	}
	a.library.mu.Lock()
	defer a.library.mu.Unlock()
	level := event.GetEventLevel()
	for key, value := range a.library.annotations {
		if level.GreaterOrEqual(a.library.levels[key]) {
			audit.AddAuditAnnotation(ctx, key, value)
		}
	}
}

// groupVersionKind returns the kind of an object, in the version that it has in Go.
func groupVersionKind(types runtime.ObjectTyper, obj runtime.Object) (schema.GroupVersionKind, error) {
	kinds, _, err := types.ObjectKinds(obj)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return kinds[0], nil
}
