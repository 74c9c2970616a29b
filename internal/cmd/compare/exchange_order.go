package compare

import (
	"cmp"
	"slices"
)

// sortExchanges is what a case did, as it would do it another time: of a series of tries only the last is left, and what is sent side by side
// stands in the order of the codes that are answered, and then of its lanes.
func sortExchanges(all []*exchange) []*exchange {
	last := map[int]int{} // the last try of each series
	for _, one := range all {
		last[one.purpose.RetryGroup] = max(last[one.purpose.RetryGroup], one.purpose.Attempt)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(one *exchange) bool { return one.purpose.Attempt < last[one.purpose.RetryGroup] })
	for from := 0; from < len(all); {
		to := from + 1
		for all[from].purpose.ConcurrentIndex > 0 && to < len(all) && all[to].purpose.ConcurrentIndex > 0 {
			to++
		}
		slices.SortStableFunc(all[from:to], func(a, b *exchange) int {
			return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.purpose.ConcurrentIndex, b.purpose.ConcurrentIndex))
		})
		from = to
	}
	return all
}
