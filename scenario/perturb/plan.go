package perturb

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// slowKinds are the names of kinds whose runs take minutes, which are left out in real time.
var slowKinds = []string{"lease", "bookmarks", "twin"}

// plan returns the perturbations of a reference in the order in which they are run: the most
// promising first, and those that are equally promising in an order that the seed determines.
func plan(r *reference) []perturbation {
	var all []perturbation
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if r.config.RealTime && slices.Contains(slowKinds, k.Name) {
			continue
		}
		for _, p := range k.find(r, r.config.Full) {
			if !seen[id(p)] {
				seen[id(p)] = true
				all = append(all, p)
			}
		}
	}
	random := rand.New(rand.NewPCG(r.config.Seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(a, b perturbation) int { return cmp.Compare(a.cost(), b.cost()) })
	return all
}
