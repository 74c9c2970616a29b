package main

import (
	"fmt"
	"io"
	"math"
)

// printFigures prints the table.
func printFigures(out io.Writer, chosen []figure, found samples) error {
	if len(chosen) == 0 {
		return nil
	}
	if _, err := fmt.Fprint(out, "| what | ratio | goal | measured by |\n|---|---|---|---|\n"); err != nil {
		return err
	}
	for _, f := range chosen {
		ratios, err := f.ratios(found[[2]string{f.suite, f.bench}])
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "| %s | %s | %s | `%s`: `%s` |\n", f.what, spread(ratios), f.verdict(median(ratios)), f.suite, f.top); err != nil {
			return err
		}
	}
	return nil
}

// median returns the median of sorted numbers, the lower of the two middle ones if their number is
// even.
func median(sorted []float64) float64 { return sorted[(len(sorted)-1)/2] }

// spread returns the median, and the minimum and maximum. It returns "" for the ratio of two values
// that were not measured.
func spread(sorted []float64) string {
	if math.IsNaN(median(sorted)) {
		return ""
	}
	if len(sorted) == 1 {
		return short(sorted[0])
	}
	return fmt.Sprintf("%s (%s to %s)", short(median(sorted)), short(sorted[0]), short(sorted[len(sorted)-1]))
}

func short(ratio float64) string { return fmt.Sprintf("%.2g", ratio) }

// verdict returns the goal and whether it is met, for a ratio that may be NaN.
func (f figure) verdict(ratio float64) string {
	bound, met := "under", ratio < f.goal
	if f.atLeast {
		bound, met = "at least", ratio >= f.goal
	}
	switch {
	case f.goal == 0:
		return ""
	case math.IsNaN(ratio):
		return fmt.Sprintf("%s %.2g: not measured", bound, f.goal)
	case met:
		return fmt.Sprintf("%s %.2g: met", bound, f.goal)
	}
	return fmt.Sprintf("%s %.2g: not met", bound, f.goal)
}
