package perturb

import (
	"fmt"
	"strings"

	"example.com/fakeapi/scenario"
)

// deletions finds objects that are deleted although they exist in the reference at that time, and
// that were deleted less often there.
func (j *judgment) deletions() (all []violation) {
	if j.tolerance.foreign || j.got.end.IsZero() {
		return nil
	}
	counts := map[objectKey]int{}
	reported := map[objectKey]bool{}
	for _, i := range j.got.instances() {
		if i.deleted == nil || i.created == nil && i.deleted.revision <= j.got.baseline {
			continue
		}
		key := j.r.normalizer.patternKey(i.last)
		counts[key]++
		phase := i.deleted.phase
		present, deletions := j.r.present[key], j.r.deletions[key]
		switch {
		case i.deleted.orphan || reported[key] || j.r.normalizer.ignores(i.key):
		case phase >= len(present) || !present[phase] || counts[key] <= deletions[len(deletions)-1]:
		case strings.HasSuffix(key.name, "*") && j.most(key) > j.r.most[key]:
			// One too many was created, which another oracle finds.
		default:
			reported[key] = true
			limit := scenario.AtMost(deletions[len(deletions)-1])
			ref := scenario.Ref{Kind: key.resource, Name: key.name, Namespace: key.namespace}
			all = append(all, violation{
				oracle: "deleted", subject: key.String(),
				text: fmt.Sprintf("expected %s to be deleted %s, as in the reference; saw it deleted %d times, at resourceVersion %d, %v after the start%s\n%s",
					key, times(deletions[len(deletions)-1]), counts[key], i.deleted.revision, i.deleted.at.Sub(j.got.begin), j.author(i.deleted), j.history(key)),
				expect: []scenario.Step{scenario.Advance(j.total()), scenario.ExpectChanges("DELETED", ref, limit)},
			})
		}
	}
	return all
}

// most returns how many objects of a key existed at a time.
func (j *judgment) most(key objectKey) int {
	return mostAtOnce(j.got.instances(), j.r.normalizer)[key]
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// creations finds objects that exist more often at a time than in the reference, and objects that
// are created again after their end.
func (j *judgment) creations() (all []violation) {
	if j.tolerance.foreign || j.got.end.IsZero() {
		return nil
	}
	most := mostAtOnce(j.got.instances(), j.r.normalizer)
	counts := creations(j.got.instances(), j.r.normalizer)
	for _, key := range sortedKeys(counts) {
		if j.r.normalizer.ignores(key) {
			continue
		}
		ref := scenario.Ref{Kind: key.resource, Name: key.name, Namespace: key.namespace}
		v := violation{oracle: "created", subject: key.String(),
			expect: []scenario.Step{scenario.Advance(j.total()), scenario.ExpectChanges("ADDED", ref, scenario.AtMost(j.r.created[key]))}}
		switch {
		case strings.HasSuffix(key.name, "*") && most[key] > j.r.most[key] && counts[key] > j.r.created[key]:
			v.text = fmt.Sprintf("expected at most %d of %s at a time, as in the reference; saw %d\n%s", j.r.most[key], key, most[key], j.history(key))
		case !strings.HasSuffix(key.name, "*") && counts[key] > j.r.created[key] && j.r.created[key] > 0 && !j.tolerance.stale && !j.tolerance.instances && j.r.final[key] == nil:
			v.text = fmt.Sprintf("expected %s to be created %s, as in the reference; saw it created %d times\n%s", key, times(j.r.created[key]), counts[key], j.history(key))
		default:
			continue
		}
		all = append(all, v)
	}
	return all
}

// history returns the changes of the objects of a key.
func (j *judgment) history(key objectKey) string {
	const most = 20
	var lines []string
	for _, c := range j.got.changes {
		if c.revision <= j.got.baseline || j.r.normalizer.patternKey(c.object()) != key {
			continue
		}
		if c.verb() == "changed" && !strings.HasSuffix(key.name, "*") && len(lines) > most/2 {
			continue
		}
		lines = append(lines, fmt.Sprintf("%9v  %s %s, uid %s%s", c.at.Sub(j.got.begin), c.key(), c.verb(), c.object().uid, j.author(c)))
	}
	if len(lines) > most {
		lines = append(lines[:most], "...")
	}
	return strings.Join(lines, "\n")
}

// author returns " by CLIENT: REQUEST" for a change that a controller has made.
func (j *judgment) author(c *change) string {
	for _, q := range j.got.requests {
		if q.mayHaveMade(c) {
			return " by " + q.client + ": " + q.Op.String()
		}
	}
	return ""
}
