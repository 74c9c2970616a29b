package compare

import (
	"cmp"
	"slices"
)

// sortExchanges returns the exchanges of a case in a deterministic order. Of a series of retries it
// keeps only the last; concurrent requests are sorted by response code and then by ConcurrentIndex.
func sortExchanges(all []*exchange) []*exchange {
	last := map[int]int{} // the last attempt of each series
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
