package conversation

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// This file finds out which events of a turn a client has missed, from the snapshot that the API sends instead of them.

// Missed turns a snapshot into the events that it stands for. A turn sends a snapshot in place of events if its reader
// was too slow, such as a terminal that was stopped. The zero value is ready for a sequence of turns. It is not safe
// for concurrent use.
type Missed struct {
	turn  string
	begun bool
	text  map[int64]int      // number of bytes of each part that were passed on
	calls map[[2]string]bool // events of calls that were passed on, by id of the call and kind
}

// Events returns the events that e stands for: e itself, or for a snapshot the events that were not passed on yet.
func (m *Missed) Events(e json.RawMessage) []json.RawMessage {
	d, kind := gjson.GetBytes(e, "data"), gjson.GetBytes(e, "type").String()
	if turn := gjson.GetBytes(e, "turnId").String(); m.text == nil || turn != m.turn {
		*m = Missed{turn: turn, text: map[int64]int{}, calls: map[[2]string]bool{}}
	}
	switch kind {
	case "snapshot":
		return m.fill(d)
	case "turn.start":
		m.begun = true
	case "text.delta":
		m.text[d.Get("partIndex").Int()] += len(d.Get("text").String())
	case "tool.proposed":
		if !d.Get("partial").Bool() {
			m.noteCall(d.Get("callId").String(), kind)
		}
	case "tool.result":
		m.noteCall(d.Get("callId").String(), kind)
	}
	return []json.RawMessage{e}
}

// noteCall notes that an event of a call is passed on, and reports whether it is the first of its kind for that call.
func (m *Missed) noteCall(id, kind string) bool {
	first := !m.calls[[2]string{id, kind}]
	m.calls[[2]string{id, kind}] = true
	return first
}

// fill returns events for what a snapshot has and was not passed on.
func (m *Missed) fill(snapshot gjson.Result) (events []json.RawMessage) {
	event := func(kind string, data map[string]any) {
		raw, err := json.Marshal(map[string]any{"type": kind, "data": data})
		if err == nil { // texts and numbers always encode
			events = append(events, raw)
		}
	}
	if !m.begun {
		m.begun = true
		event("turn.start", map[string]any{"ownTools": snapshot.Get("ownTools").Bool(), "agent": snapshot.Get("agent").String()})
	}
	calls := map[string]gjson.Result{}
	for _, c := range snapshot.Get("calls").Array() {
		calls[c.Get("callId").String()] = c
	}
	for i, part := range snapshot.Get("parts").Array() {
		index, text, id := int64(i), part.Get("text").String(), part.Get("callId").String()
		switch part.Get("type").String() {
		case "text":
			if told := m.text[index]; told < len(text) {
				m.text[index] = len(text)
				event("text.delta", map[string]any{"partIndex": index, "text": text[told:]})
			}
		case "tool_call":
			if m.noteCall(id, "tool.proposed") {
				event("tool.proposed", map[string]any{"callId": id, "name": part.Get("name").String(), "args": part.Get("args").String()})
			}
		case "tool_result":
			if m.noteCall(id, "tool.result") {
				event("tool.result", map[string]any{
					"callId": id, "ok": calls[id].Get("state").String() == "done" && !part.Get("isError").Bool(),
					"durationMs": calls[id].Get("durationMs").Int(), "preview": text,
				})
			}
		}
	}
	return events
}
