package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"example.com/fakeapi/fake/internal/timeline"
)

// decisionInfo is a decision of admission as the details of a request show it.
type decisionInfo struct {
	// By is the webhook or the policy. Title is the decision in a line.
	By      string `json:"by"`
	Title   string `json:"title"`
	Outcome string `json:"outcome"`
	When    string `json:"when"`
	// About is the operation and the object.
	About   string       `json:"about"`
	Message string       `json:"message,omitempty"`
	Changes []changeInfo `json:"changes,omitempty"`
	// Texts has the warnings and audit annotations, and what was dropped.
	Texts []string `json:"texts,omitempty"`
}

// changeInfo is one change of an object.
type changeInfo struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value string `json:"value,omitempty"`
}

// decisionInfos returns the decisions about the write of an exchange.
func (s *pageData) decisionInfos(e timeline.Exchange) (infos []decisionInfo) {
	for _, d := range e.Admission {
		info := decisionInfo{
			By: d.By(), Title: d.Summary(), Outcome: d.Outcome, When: offsetText(d.Begin.Sub(s.Begin)),
			About: d.Operation + " " + d.Object, Message: d.Message,
		}
		for _, c := range d.Changes {
			info.Changes = append(info.Changes, changeInfo(c))
		}
		for _, w := range d.Warnings {
			info.Texts = append(info.Texts, "warning: "+w)
		}
		for _, key := range slices.Sorted(maps.Keys(d.AuditAnnotations)) {
			info.Texts = append(info.Texts, "audit annotation "+key+": "+d.AuditAnnotations[key])
		}
		if d.Dropped > 0 {
			info.Texts = append(info.Texts, fmt.Sprintf("%d more were dropped", d.Dropped))
		}
		infos = append(infos, info)
	}
	return infos
}

// effectOf returns what a decision did to the write, or "" if it only allowed it.
func effectOf(d timeline.AdmissionDecision) string {
	switch {
	case d.Outcome == "ignored":
		return "failed, ignored"
	case d.Outcome != "allowed":
		return d.Outcome
	case len(d.Changes) > 0:
		return "changed it"
	}
	return ""
}

// effectsOf returns the effects of webhooks and policies on the write of an exchange, each once.
func effectsOf(e timeline.Exchange) (effects []string) {
	for _, d := range e.Admission {
		if effect := effectOf(d); effect != "" && !slices.Contains(effects, d.By()+" "+effect) {
			effects = append(effects, d.By()+" "+effect)
		}
	}
	return effects
}

// maxPaths is how many paths of changes a row of the table has.
const maxPaths = 8

// decisionTexts returns the decisions about the write of an exchange, with what they changed.
func decisionTexts(e timeline.Exchange) (texts []string) {
	for _, d := range e.Admission {
		text := d.By() + " " + cmp.Or(effectOf(d), d.Outcome)
		if len(d.Changes) > 0 && d.Outcome == "allowed" {
			text = d.By() + " changed"
		}
		for i, c := range d.Changes {
			if i == maxPaths {
				text += fmt.Sprintf(" and %d more", len(d.Changes)-i)
				break
			}
			text += " " + c.Path
		}
		texts = append(texts, text)
	}
	return texts
}
