package page

import "fmt"

// linkWrites relates writes to their events where the response has no resourceVersion: a deletion
// may be answered with a Status, and a response may be lost. The event is one of the object, of the
// type that the write causes, during the request, and not caused by another write.
func (s *pageData) linkWrites() {
	claimed := map[string]bool{}
	events := map[string][]*mark{}
	for i := range s.Marks {
		switch m := &s.Marks[i]; {
		case m.nth < 0 && m.Group != "":
			claimed[m.Group] = true
		case m.nth >= 0 && m.Group != "":
			events[m.Shape+" "+m.Object] = append(events[m.Shape+" "+m.Object], m)
		}
	}
	for i := range s.Marks {
		m := &s.Marks[i]
		if m.nth >= 0 || m.Exchange < 0 || m.Group != "" {
			continue
		}
		e, to := s.timeline.Exchanges[m.Exchange], s.targets[m.Exchange]
		lost := e.StatusCode == 0 || e.StatusCode >= 500
		if !lost && !(e.Verb == "delete" && isSuccess(e)) {
			continue
		}
		for _, event := range events[eventTypeOf(e.Verb)+" "+to.key()] {
			late := !e.End.IsZero() && event.at.Sub(e.End) > columnWindow
			if !late && !event.at.Before(e.Begin) && !claimed[event.Group] {
				m.Group = event.Group
				claimed[event.Group] = true
				break
			}
		}
	}
}

// eventTypeOf returns the type of the event that a write causes.
func eventTypeOf(verb string) string {
	switch verb {
	case "create":
		return "add"
	case "update", "patch":
		return "mod"
	case "delete":
		return "del"
	}
	return ""
}

// linkLost relates a fault that dropped an event to the write that caused the event: the latest
// write of the object that the watch has not sent.
func (s *pageData) linkLost() {
	heard := map[string]bool{}
	wrote := map[string][]*mark{}
	for i := range s.Marks {
		m := &s.Marks[i]
		if m.nth >= 0 && m.Group != "" {
			heard[fmt.Sprint(m.Exchange, " ", m.Group)] = true
		} else if m.nth < 0 && m.Group != "" {
			wrote[m.Object] = append(wrote[m.Object], m)
		}
	}
	for i := range s.Marks {
		m := &s.Marks[i]
		if m.Shape != "fault" || m.Exchange < 0 {
			continue
		}
		op := s.timeline.Hits[m.Hits[0]].Op
		if !isObjectEvent(string(op.Event)) {
			continue
		}
		for _, w := range wrote[s.targets[m.Exchange].withObject(op.Namespace, op.Name).key()] {
			if !w.at.After(m.at) && !heard[fmt.Sprint(m.Exchange, " ", w.Group)] {
				m.Group = w.Group
				m.order = max(m.order, w.order)
			}
		}
	}
}
