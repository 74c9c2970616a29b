package timeline

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"example.com/fakeapi/internal/requestinfo"
)

// Timeline returns a copy of what has been recorded. It must not be changed.
func (r *Recorder) Timeline() Timeline {
	known, forgotten := r.recordings()
	t := Timeline{Begin: r.begin, End: time.Now(), Hits: r.hits(), Notes: r.copyNotes(), ExchangesDropped: forgotten}
	slices.SortFunc(known, func(a, b *recording) int { return cmp.Compare(a.seq, b.seq) })
	for _, x := range known {
		t.Exchanges = append(t.Exchanges, x.exchange())
	}
	return t
}

// withoutContent returns the exchange as it is now, without what it sent and received.
func (x *recording) withoutContent() Exchange {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.header()
	e.Path = requestinfo.RedactURI(e.Path)
	return e
}

// header returns the exchange without what it sent and received. x.mu is locked.
func (x *recording) header() Exchange {
	e := Exchange{
		Seq: x.seq, Order: x.order, Begin: x.begin, End: x.end, UserAgent: x.client, Method: x.method, Path: x.path, StatusCode: x.code,
		Info: x.info, User: x.user,
	}
	if e.Info.IsResourceRequest() {
		e.Verb = e.Info.Verb
	}
	return e
}

// exchange returns the exchange as it is now.
func (x *recording) exchange() Exchange {
	e, sent := x.copyFrames()
	if e.Verb != "" && e.Verb != requestinfo.Watch {
		if version := objectInfo(e.Response).ResourceVersion; version != "" {
			e.ResourceVersion = version
		}
	}
	for _, f := range sent {
		event := eventInfo(f.Body)
		f.Type, f.Namespace, f.Name, f.ResourceVersion = event.Type, event.Namespace, event.Name, event.ResourceVersion
		e.Frames = append(e.Frames, f)
	}
	return e.redact()
}

// copyFrames copies an exchange and its unparsed frames. An incomplete frame is the last one.
func (x *recording) copyFrames() (e Exchange, sent []Frame) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e = x.header()
	e.Request, e.Response = x.request.body(x.requestType), x.answer.body(x.answerType)
	e.ResourceVersion = x.answer.listVersion()
	if x.admission != nil {
		e.Admission, e.DecisionsDropped = slices.Clone(x.admission.list), x.admission.dropped
	}
	s := x.stream
	if s == nil {
		return e, nil
	}
	e.FramesDropped = s.forgotten
	for _, f := range s.frames {
		sent = append(sent, Frame{Time: f.at, Order: f.order, Body: Body{x.answerType, f.blob.data, f.blob.size}})
	}
	if s.partial.size > 0 {
		sent = append(sent, Frame{Time: s.partialAt.at, Order: s.partialAt.order, Body: s.partial.body(x.answerType)})
	}
	return e, sent
}

// body returns a copy of a body.
func (p truncatedBody) body(contentType string) Body {
	return Body{contentType, bytes.Clone(p.data), p.size}
}
