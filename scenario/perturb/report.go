package perturb

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Report is the result of [Search].
type Report struct {
	// Perturbations is the number of perturbations that there are, and Runs how many were run.
	Perturbations, Runs int
	// Kinds has the number of runs of each kind.
	Kinds map[string]int
	// Missed is the number of runs in which the place of the perturbation was not reached.
	Missed int
	// Inconclusive has the runs that ended before their end, with the reason.
	Inconclusive []string
	// Findings has one finding for each cause, sorted by name.
	Findings []*Finding
	// Gone has the names in Config.Known that were not found.
	Gone []string
}

// Summary returns the numbers of a report on one line.
func (r *Report) Summary() string {
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(r.Kinds)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", name, r.Kinds[name]))
	}
	return fmt.Sprintf("%d of %d perturbations (%s), %d not reached, %d inconclusive, %d findings",
		r.Runs, r.Perturbations, strings.Join(kinds, ", "), r.Missed, len(r.Inconclusive), len(r.Findings))
}

// String returns the summary and the findings.
func (r *Report) String() string {
	text := r.Summary() + "\n"
	for _, f := range r.Findings {
		text += "\n" + f.String() + "\n"
	}
	return text
}
