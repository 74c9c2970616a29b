package fakeapi

import (
	"encoding/json"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/faults"
)

// ruleJSON is the JSON form of a fault rule.
type ruleJSON struct{ faults.Rule }

// MarshalJSON implements json.Marshaler.
func (r ruleJSON) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name string `json:"name,omitempty"`
		Rule string `json:"rule"`
	}{r.Name, r.String()})
}

func toRulesJSON(rules []faults.Rule) []ruleJSON {
	list := make([]ruleJSON, len(rules))
	for i, r := range rules {
		list[i] = ruleJSON{r}
	}
	return list
}

// hitJSON is the JSON form of a hit.
type hitJSON struct{ faults.Hit }

// MarshalJSON implements json.Marshaler.
func (h hitJSON) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"seq": h.Seq, "time": h.Time, "rule": h.Rule.Name, "phase": h.Op.Phase.String(), "operation": h.Op.String(),
		"path": h.Op.Path, "userAgent": h.Op.UserAgent, "webhook": h.Op.Webhook, "notApplied": h.NotApplied, "text": h.String(),
	})
}

func (c *controlAPI) listFaults(w http.ResponseWriter, r *http.Request) error {
	return writeList(w, r, http.StatusOK, "rules", toRulesJSON(c.server.faults.Rules()))
}

func toHitsJSON(hits []faults.Hit) []hitJSON {
	list := make([]hitJSON, len(hits))
	for i, h := range hits {
		list[i] = hitJSON{h}
	}
	return list
}

func (c *controlAPI) listHits(w http.ResponseWriter, r *http.Request) error {
	return writeList(w, r, http.StatusOK, "hits", toHitsJSON(c.server.faults.Hits()))
}

// addFaults adds the rules of the body, all or none, and responds with them.
func (c *controlAPI) addFaults(w http.ResponseWriter, r *http.Request) error {
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
		return apierrors.NewBadRequest("the body has no fault rule; it has one rule per line")
	}
	for _, rule := range rules {
		c.server.note("add fault %s", rule)
	}
	return writeList(w, r, http.StatusCreated, "rules", toRulesJSON(rules))
}

func (c *controlAPI) clearFaults() {
	c.server.note("remove all faults")
	c.server.faults.Clear()
}

func (c *controlAPI) removeFaults(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if c.server.faults.Remove(name) == 0 {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "faults"}, name)
	}
	c.server.note("remove fault %s", name)
	return writeNoContent(w)
}
