package fastpath

import "slices"

// mergeList merges lists whose elements have owners. The elements of the configuration are in the
// order of the configuration afterwards. The others keep their place before the elements that
// follow them.
func (m *merger[V]) mergeList(p *plan, config any, out *merged[V]) {
	items, ok := config.([]any)
	list, n, okLive := m.values.list(out.value)
	if !ok || !okLive {
		m.unsupported = true
		return
	}
	isAbsent := m.values.isAbsent(out.value)
	if len(items) == 0 { // a list without elements has no owner
		if (isAbsent || m.values.isNull(out.value)) && !m.refusesChange() {
			out.value, out.changed, out.change.member = m.target.newList(p, []V{}), true, true
		}
		return
	}
	out.change.member = isAbsent
	elements, positions := m.match(p, list, n, items)
	if m.unsupported {
		return
	}
	inPlace := isIncreasing(positions)
	if !inPlace && m.refusesChange() {
		return
	}
	values := make([]V, len(items)) // those of the configuration afterwards
	mark := m.nodes.mark()
	for _, i := range sortedOrder(elements) {
		if positions[i] >= 0 {
			values[i] = m.values.item(list, positions[i])
		}
		e := m.mergeOwned(p.elem, values[i], items[i], elements[i], true)
		if m.unsupported {
			return
		}
		values[i] = e.value
		if e.changed && inPlace {
			m.target.setItem(list, positions[i], e.value)
		}
		out.changed = out.changed || e.changed
		if !e.change.isEmpty() {
			m.nodes.push(e.change)
		}
	}
	out.change.children = m.nodes.pop(mark)
	if !inPlace {
		out.value, out.changed = m.mergeOrder(p, list, n, values, positions), true
	}
}

// sortedOrder returns the indexes of elements in the order of a set.
func sortedOrder(elements []element) []int {
	order := make([]int, len(elements))
	for i := range order {
		order[i] = i
	}
	if len(order) > 1 {
		slices.SortFunc(order, func(i, j int) int { return elements[i].compare(elements[j]) })
	}
	return order
}

// match returns the elements of the paths of items, which are elements of a list in the
// configuration, and their positions in the list of n elements in the object, -1 for those that are
// not there. Lists with duplicates are not supported.
func (m *merger[V]) match(p *plan, list V, n int, items []any) ([]element, []int) {
	elements := make([]element, len(items))
	for i, item := range items {
		elements[i] = m.config.element(p, item)
		m.unsupported = m.unsupported || hasNullKey(p, item)
	}
	live := make([]element, n)
	for i := range live {
		live[i] = m.element(p, m.values.item(list, i))
	}
	if m.unsupported = m.unsupported || m.config.unsupported; m.unsupported {
		return nil, nil
	}
	if max(len(items), n) > maxPairwise {
		return elements, m.matchByIndex(elements, live)
	}
	positions := make([]int, len(items))
	for i, e := range elements {
		positions[i] = -1
		for j := range live {
			if live[j] == e {
				positions[i] = j
				break
			}
		}
	}
	m.unsupported = hasDuplicates(elements) || hasDuplicates(live) // it is not set yet
	return elements, positions
}

// hasNullKey reports whether a key of an element of the configuration is null, and not absent, or
// the element that has it.
func hasNullKey(p *plan, item any) bool {
	object, ok := item.(map[string]any)
	if !ok && len(p.keys) > 0 {
		return true
	}
	for i := range p.keys {
		if v, ok := object[p.keys[i].field.name]; ok && v == nil {
			return true
		}
	}
	return false
}

// hasDuplicates reports whether two of a few elements are equal.
func hasDuplicates(elements []element) bool {
	for i := range elements {
		for j := range i {
			if elements[i] == elements[j] {
				return true
			}
		}
	}
	return false
}

// matchByIndex is match for long lists.
func (m *merger[V]) matchByIndex(elements, live []element) []int {
	index := make(map[element]int, len(live))
	for i, e := range live {
		index[e] = i
	}
	seen := make(map[element]bool, len(elements))
	positions := make([]int, len(elements))
	for i, e := range elements {
		seen[e] = true
		positions[i] = -1
		if at, ok := index[e]; ok {
			positions[i] = at
		}
	}
	m.unsupported = len(index) < len(live) || len(seen) < len(elements)
	return positions
}

// isIncreasing reports whether the elements of the configuration are in the list of the object, in
// the same order. The order of the list stays as it is then.
func isIncreasing(positions []int) bool {
	last := -1
	for _, at := range positions {
		if at <= last {
			return false
		}
		last = at
	}
	return true
}

// mergeOrder returns the merged list. values are the elements of the configuration in it.
func (m *merger[V]) mergeOrder(p *plan, list V, n int, values []V, positions []int) V {
	order := mergedOrder(n, positions)
	items := make([]V, len(order))
	for i, at := range order {
		if at.config >= 0 {
			items[i] = values[at.config]
		} else {
			items[i] = m.values.item(list, at.live)
		}
	}
	return m.target.newList(p, items)
}

// listPlace has the positions of an element of a merged list in the list of the object and in the
// configuration, -1 if it is not there.
type listPlace struct{ live, config int }

// mergedOrder returns the elements of a merged list in the order of the library. n is the length of
// the list of the object, positions has the elements of the configuration in it, or -1.
//
// The library steps through both lists. It takes an element that only the object has as soon as it
// comes to it, and the elements of the configuration in their order. An element of both that is not
// the next one of the configuration that both have is skipped in the list of the object.
func mergedOrder(n int, positions []int) []listPlace {
	inConfig := make([]int, n)
	for i := range inConfig {
		inConfig[i] = -1
	}
	for i, at := range positions {
		if at >= 0 {
			inConfig[at] = i
		}
	}
	order := make([]listPlace, 0, max(n, len(positions)))
	live, config, shared := 0, 0, nextShared(positions, 0)
	take := func() {
		order = append(order, listPlace{positions[config], config})
		if config++; shared < config {
			shared = nextShared(positions, config)
		}
	}
	for live < n || config < len(positions) {
		hasConfig := config < len(positions)
		switch {
		case live == n:
			take()
		case inConfig[live] < 0:
			order = append(order, listPlace{live, -1})
			live++
		case hasConfig && inConfig[live] == config:
			take()
			live++
		case hasConfig && shared < len(positions) && inConfig[live] != shared:
			live++
		default:
			if inConfig[live] < config { // it has been taken
				live++
			}
			if hasConfig {
				take()
			}
		}
	}
	return order
}

// nextShared returns the first element of the configuration from position i on that the object has
// too, or the length of the configuration.
func nextShared(positions []int, i int) int {
	for i < len(positions) && positions[i] < 0 {
		i++
	}
	return i
}
