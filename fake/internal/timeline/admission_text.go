package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/fakeapi/internal/requestinfo"
)

// By names the webhook or the policy.
func (d AdmissionDecision) By() string {
	if strings.HasSuffix(d.Plugin, "Webhook") {
		return "webhook " + d.Configuration + "/" + d.Name
	}
	if d.Configuration == "" {
		return "policy " + d.Name
	}
	return "policy " + d.Name + " (binding " + d.Configuration + ")"
}

// Summary describes the decision in a line, without its texts.
func (d AdmissionDecision) Summary() string {
	parts := []string{d.By()}
	if d.Reinvoked {
		parts = append(parts, "called again")
	}
	parts = append(parts, d.Outcome)
	if d.Outcome == "ignored" {
		parts[len(parts)-1] = "failed, ignored"
	}
	if d.Code >= 300 {
		parts = append(parts, fmt.Sprintf("with %d", d.Code))
	}
	if d.Duration >= time.Millisecond {
		parts = append(parts, "in "+d.Duration.Round(time.Millisecond).String())
	}
	return strings.Join(parts, " ")
}

// line describes the decision, without its time. verb is that of the request.
func (d AdmissionDecision) line(verb string) string {
	text := d.Summary()
	if d.Operation != operationOf(verb) {
		text = d.Operation + " " + d.Object + ": " + text
	}
	var more []string
	if d.Message != "" {
		first, _, _ := strings.Cut(d.Message, "\n")
		more = append(more, shorten(first, textPath))
	}
	for i, c := range d.Changes {
		if i == textChanges {
			more = append(more, fmt.Sprintf("%d more changes", len(d.Changes)-i))
			break
		}
		more = append(more, c.Op+" "+shorten(c.Path, textPath))
	}
	for _, w := range d.Warnings {
		more = append(more, "warning "+fmt.Sprintf("%q", shorten(w, textPath)))
	}
	for _, key := range slices.Sorted(maps.Keys(d.AuditAnnotations)) {
		more = append(more, "audit "+key+"="+fmt.Sprintf("%q", shorten(d.AuditAnnotations[key], textPath)))
	}
	if d.Dropped > 0 {
		more = append(more, fmt.Sprintf("%d forgotten", d.Dropped))
	}
	if len(more) > 0 {
		text += ": " + strings.Join(more, ", ")
	}
	return text
}

// operationOf returns the operation that the verb of a request for one object usually is.
func operationOf(verb string) string {
	switch verb {
	case requestinfo.Create:
		return "CREATE"
	case requestinfo.Update, requestinfo.Patch:
		return "UPDATE"
	case requestinfo.Delete:
		return "DELETE"
	}
	return ""
}
