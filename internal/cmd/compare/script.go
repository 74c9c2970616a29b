package compare

import (
	"cmp"
	"slices"
)

// script is what a case did, as it would do it another time: of a series of tries only the last is left, and what is sent side by side
// stands in the order of the codes that are answered, and then of its lanes.
func script(all []*recorded) []*recorded {
	last := map[int]int{} // the last try of each series
	for _, one := range all {
		last[one.place.RetryGroup] = max(last[one.place.RetryGroup], one.place.Attempt)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(one *recorded) bool { return one.place.Attempt < last[one.place.RetryGroup] })
	for from := 0; from < len(all); {
		to := from + 1
		for all[from].place.ConcurrentIndex > 0 && to < len(all) && all[to].place.ConcurrentIndex > 0 {
			to++
		}
		slices.SortStableFunc(all[from:to], func(a, b *recorded) int {
			return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.place.ConcurrentIndex, b.place.ConcurrentIndex))
		})
		from = to
	}
	return all
}
