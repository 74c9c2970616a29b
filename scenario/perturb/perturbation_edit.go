package perturb

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/scenario"
)

// foreignFinalizer is the finalizer that somebody else adds.
const foreignFinalizer = "perturb.example.com/other"

// foreign is a write by somebody else: a new finalizer, or a deletion. It happens before the
// request at a place, or at the begin of a phase.
type foreign struct {
	object     *object // as it is at that time
	deletes    bool
	request    *place
	phase      int
	quietTimes []perturbation
}

func editKind() Kind {
	return Kind{
		Name:      "edit",
		Imitates:  "somebody else, such as another controller, adds a finalizer to an object between a read and a write of it",
		Catalogue: []int{57, 78},
		find: func(r *reference, full bool) (all []perturbation) {
			for _, p := range r.writes(full) {
				if p.name == "" || p.verb == "delete" {
					continue
				}
				o := r.objectAt(p.key, p.order)
				if o == nil || o.isTerminating() || !r.livesToTheEnd(o) {
					continue
				}
				all = append(all, foreign{object: o, request: p, phase: p.phase, quietTimes: r.quietEdits(o, p.phase, false)})
			}
			return all
		},
	}
}

func deleteKind() Kind {
	return Kind{
		Name:      "delete",
		Imitates:  "somebody else deletes an object that the controller has created",
		Catalogue: []int{78},
		find: func(r *reference, full bool) (all []perturbation) {
			for _, i := range r.lifetimes {
				if i.created == nil || i.deleted != nil || r.createdByStep(i) || r.normalizer.ignores(i.key) || r.normalizer.pattern(i.last) != i.key.name {
					continue
				}
				end := len(r.phases) - 1
				for phase := i.created.phase + 1; phase <= end; phase++ {
					f := foreign{object: i.last, deletes: true, phase: phase}
					if phase < end {
						f.quietTimes = r.quietEdits(i.last, phase, true)
					}
					all = append(all, f)
				}
			}
			return all
		},
	}
}

// objectAt returns the state of an object before a request of the reference.
func (r *reference) objectAt(key objectKey, order uint64) *object {
	before := r.requestLog.requests[order].before
	var found *object
	for _, c := range r.changes {
		if c.revision <= before && c.key() == key {
			found = c.after
		}
	}
	return found
}

// objectBefore returns the state of an object at the begin of a phase.
func (r *reference) objectBefore(key objectKey, phase int) *object {
	var found *object
	for _, c := range r.changes {
		if c.phase < phase && c.key() == key {
			found = c.after
		}
	}
	return found
}

// livesToTheEnd reports whether an object exists at the end.
func (r *reference) livesToTheEnd(o *object) bool {
	last := r.changeLog.state.objects[o.key]
	return last != nil && last.uid == o.uid && !last.isTerminating()
}

// createdByStep reports whether an instance was not created by a controller.
func (r *reference) createdByStep(i *instance) bool {
	return !slices.ContainsFunc(r.requestLog.requests, func(q *request) bool { return q.isWrite() && q.mayHaveMade(i.created) })
}

// quietEdits returns the same write at the begin of a phase, of the next one, and at the end.
func (r *reference) quietEdits(o *object, phase int, deletes bool) (all []perturbation) {
	end := len(r.phases) - 1
	for _, other := range []int{phase, phase + 1, end} {
		if deletes && other == phase {
			continue // it is the write itself
		}
		if other < 1 || other > end || !r.existsAt(o, other) {
			continue
		}
		if then := r.objectBefore(o.key, other); then != nil {
			all = append(all, foreign{object: then, deletes: deletes, phase: other})
		}
	}
	return all
}

// existsAt reports whether an object exists at the begin of a phase.
func (r *reference) existsAt(o *object, phase int) bool {
	for _, i := range r.lifetimes {
		if i.uid == o.uid {
			return (i.created == nil || i.created.phase < phase) && (i.deleted == nil || i.deleted.phase >= phase)
		}
	}
	return false
}

func (f foreign) kind() string {
	if f.deletes {
		return "delete"
	}
	return "edit"
}

func (f foreign) cost() int { return 2 }

func (f foreign) tolerance() tolerance {
	return tolerance{foreign: true, quiet: f.quietTimes, lasting: !f.deletes}
}

func (f foreign) where() string {
	if f.request != nil {
		return f.object.key.String() + " before " + f.request.String()
	}
	return f.object.key.String() + " before step " + strconv.Itoa(f.phase)
}

func (f foreign) additions() additions {
	write := f.step()
	if f.request != nil {
		return additions{
			before: append([]scenario.Step{rule(f.request.when("before"), "delay("+time.Millisecond.String()+")")}, atHit(write)...),
			rules:  []string{ruleName},
		}
	}
	return additions{at: map[int][]scenario.Step{f.phase: {write, scenario.Advance(time.Second)}}}
}

// step returns the step of the write.
func (f foreign) step() scenario.Step {
	ref := refOf(f.object)
	if f.deletes {
		return scenario.Delete(ref)
	}
	var quoted []string
	finalizers, _ := f.object.metadata()["finalizers"].([]any)
	for _, name := range append(finalizers[:len(finalizers):len(finalizers)], foreignFinalizer) {
		quoted = append(quoted, jsonText(name))
	}
	return scenario.Patch(ref, types.MergePatchType, `{"metadata":{"finalizers":[`+strings.Join(quoted, ",")+`]}}`)
}

// refOf returns the reference of an object in steps.
func refOf(o *object) scenario.Ref {
	return scenario.Ref{Kind: o.key.resource, Name: o.key.name, Namespace: o.key.namespace}
}
