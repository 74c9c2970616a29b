package table

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// eventPrinters returns the printers of events, which are stored as those of the core group.
func eventPrinters() []entry {
	name := named()
	return []entry{newEntry(corev1.SchemeGroupVersion, eventCells,
		text("Last Seen", describes(corev1.Event{}, "lastTimestamp")),
		text("Type", describes(corev1.Event{}, "type")),
		text("Reason", describes(corev1.Event{}, "reason")),
		text("Object", describes(corev1.Event{}, "involvedObject")),
		wide(text("Subobject", describes(corev1.ObjectReference{}, "fieldPath"))),
		wide(text("Source", describes(corev1.Event{}, "source"))),
		text("Message", describes(corev1.Event{}, "message")),
		wide(text("First Seen", describes(corev1.Event{}, "firstTimestamp"))),
		wide(text("Count", describes(corev1.Event{}, "count"))),
		wide(name),
	)}
}

func eventCells(e *corev1.Event) []any {
	first := since(e.FirstTimestamp)
	if e.FirstTimestamp.IsZero() { // events of events.k8s.io have one time
		first = since(metav1.Time(e.EventTime))
	}
	last := since(e.LastTimestamp)
	if e.LastTimestamp.IsZero() {
		last = first
	}
	count := cmp.Or(e.Count, 1)
	if e.Series != nil {
		last, count = since(metav1.Time(e.Series.LastObservedTime)), e.Series.Count
	}
	about := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name != "" {
		about += "/" + e.InvolvedObject.Name
	}
	source := orDefault(e.Source.Component, e.ReportingController)
	if host := orDefault(e.Source.Host, e.ReportingInstance); host != "" {
		source += ", " + host
	}
	return []any{
		last, e.Type, e.Reason, about, e.InvolvedObject.FieldPath, source,
		strings.TrimSpace(e.Message), first, count, e.Name,
	}
}
