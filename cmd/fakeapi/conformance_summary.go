package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/fakeapi/conformance"
	"example.com/fakeapi/internal/printable"
)

// writeSummary prints the failures and leftovers, and the number of outcomes by group and level.
func writeSummary(out io.Writer, report conformance.Report) error {
	for _, one := range report.Results {
		if one.Err != nil {
			_, _ = fmt.Fprintf(out, "FAIL  %s [%s] %s\n      %s\n      why: %s\n      source: %s\n", one.Case.ID, one.Case.Level, one.Case.Title,
				indented(one.Err), one.Case.Why, one.Case.Source) // an error is returned by the last write
		}
		if len(one.Leftovers) > 0 {
			_, _ = fmt.Fprintf(out, "LEFT  %s: %s\n", one.Case.ID, indented(errors.Join(one.Leftovers...)))
		}
	}
	writeNotReached(out, report)
	if len(report.Leftovers) > 0 {
		_, _ = fmt.Fprintf(out, "LEFT  %s\n", indented(errors.Join(report.Leftovers...)))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "GROUP\tLEVEL\tPASSED\tFAILED\tSKIPPED\tABOUT")
	for _, t := range report.Tallies() {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\n", t.Group, t.Level, t.Passed, t.Failed, t.Skipped, conformance.GroupTitle(t.Group))
	}
	for _, level := range []conformance.Level{conformance.Must, conformance.Should, conformance.May} {
		t := report.LevelTally(level)
		_, _ = fmt.Fprintf(w, "all\t%s\t%d\t%d\t%d\t\n", level, t.Passed, t.Failed, t.Skipped)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	writeFailed(out, report)
	_, err := fmt.Fprintf(out, "server %s, run %s: %d passed, %d failed, %d skipped in %v\n", orNone(report.Server), report.RunID,
		report.Count(conformance.Passed), report.Count(conformance.Failed), report.Count(conformance.Skipped), report.Duration.Round(time.Second))
	return err
}

// maxListedCases is the number of failed cases up to which writeFailed prints them.
const maxListedCases = 50

// writeFailed prints the flag that runs the failed cases only, unless they are many.
func writeFailed(out io.Writer, report conformance.Report) {
	var ids []string
	for _, one := range report.Results {
		if one.Err != nil {
			ids = append(ids, regexp.QuoteMeta(one.Case.ID))
		}
	}
	if len(ids) > 0 && len(ids) <= maxListedCases {
		_, _ = fmt.Fprintf(out, "only the failed cases: --run '^(%s)$'\n", strings.Join(ids, "|"))
	}
}

// writeNotReached prints the cases that were not started before the run ended, in a line for each
// group.
func writeNotReached(out io.Writer, report conformance.Report) {
	total, all, missed := 0, map[string]int{}, map[string][]string{}
	for _, one := range report.Results {
		group := one.Case.Group()
		all[group]++
		if one.NotReached {
			total++
			missed[group] = append(missed[group], one.Case.ID)
		}
	}
	if total == 0 {
		return
	}
	_, _ = fmt.Fprintf(out, "MISSED  %d cases were not reached:\n", total)
	for _, group := range slices.Sorted(maps.Keys(missed)) {
		ids := strings.Join(missed[group], " ")
		if len(missed[group]) == all[group] {
			ids = fmt.Sprintf("all %d", all[group])
		}
		_, _ = fmt.Fprintf(out, "      %s: %s\n", group, ids)
	}
}

// indented returns an error with its further lines indented.
func indented(err error) string { return strings.ReplaceAll(err.Error(), "\n", "\n      ") }

func orNone(version string) string {
	if version == "" {
		return "of no version"
	}
	return printable.Word(version)
}
