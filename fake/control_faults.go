package fakeapi

import (
	"encoding/json"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/faults"
)

// toldRule is a fault rule as the control API tells it.
type toldRule struct{ faults.Rule }

// MarshalJSON implements json.Marshaler.
func (r toldRule) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name string `json:"name,omitempty"`
		Rule string `json:"rule"`
	}{r.Name, r.String()})
}

func toldRules(rules []faults.Rule) []toldRule {
	told := make([]toldRule, len(rules))
	for i, r := range rules {
		told[i] = toldRule{r}
	}
	return told
}

// toldHit is a hit as the control API tells it.
type toldHit struct{ faults.Hit }

// MarshalJSON implements json.Marshaler.
func (h toldHit) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"seq": h.Seq, "time": h.Time, "rule": h.Rule.Name, "phase": h.Op.Phase.String(), "operation": h.Op.String(),
		"path": h.Op.Path, "userAgent": h.Op.UserAgent, "missed": h.NotApplied, "text": h.String(),
	})
}

func (c *control) listFaults(w http.ResponseWriter, r *http.Request) error {
	return tell(w, r, http.StatusOK, "rules", toldRules(c.server.faults.Rules()))
}

func toldHits(hits []faults.Hit) []toldHit {
	told := make([]toldHit, len(hits))
	for i, h := range hits {
		told[i] = toldHit{h}
	}
	return told
}

func (c *control) listHits(w http.ResponseWriter, r *http.Request) error {
	return tell(w, r, http.StatusOK, "hits", toldHits(c.server.faults.Hits()))
}

// addFaults arms the rules of the body, all or none, and answers with them.
func (c *control) addFaults(w http.ResponseWriter, r *http.Request) error {
	body, err := readControlBody(w, r)
	if err != nil {
		return err
	}
	rules, err := faults.ParseAll(body)
	if err == nil && len(rules) > 0 {
		_, err = c.server.faults.Add(rules...)
	}
	switch {
	case err != nil:
		return apierrors.NewBadRequest(err.Error())
	case len(rules) == 0:
		return apierrors.NewBadRequest("there is no fault rule in the body; give one a line")
	}
	return tell(w, r, http.StatusCreated, "rules", toldRules(rules))
}

func (c *control) removeFaults(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if c.server.faults.Remove(name) == 0 {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "faults"}, name)
	}
	return done(w)
}
