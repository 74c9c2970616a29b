package compare

import (
	"encoding/json"
	"io"
)

// WriteJSON writes the report as JSON: the fields of [Report], and the number of cases by verdict
// under "counts".
func (r *Report) WriteJSON(w io.Writer) error {
	counts := map[Verdict]int{}
	for _, v := range Verdicts() {
		counts[v] = r.Count(v)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		*Report
		Counts map[Verdict]int `json:"counts"`
	}{r, counts})
}
