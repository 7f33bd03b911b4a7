package notify

import (
	"time"

	"collie/internal/event"
	"collie/internal/pipeline/gate"
	"collie/internal/tool"
)

// elsewhereAfter is how long a question stays unanswered until its person is assumed to be away.
const elsewhereAfter = 5 * time.Second

// Follow sends a note for each question that is not answered within elsewhereAfter, and at once for each call that waits
// under a code. It returns when the subscription is closed.
func (n *Notifier) Follow(asked *event.Subscription[gate.Asked]) {
	waiting := map[string]*time.Timer{} // by call
	defer func() {
		for _, t := range waiting {
			t.Stop()
		}
	}()
	for q := range asked.C() {
		id := q.Call.ID
		switch {
		case q.Code != "":
			n.Send(noteOf(q.Call, "collie confirm "+q.Code))
		case q.Answer != "":
			if t := waiting[id]; t != nil {
				t.Stop()
				delete(waiting, id)
			}
		case q.Call.Origin == tool.Direct: // the person typed the call
		default:
			note := noteOf(q.Call, questionPlace(q.Call))
			waiting[id] = time.AfterFunc(elsewhereAfter, func() { n.Send(note) })
		}
	}
}

// noteOf returns a note about c, without its arguments.
func noteOf(c *tool.Call, answer string) Note {
	risk, _ := c.Action.Rated()
	if c.Finding != nil && c.Finding.Risk != tool.RiskUnknown {
		risk = c.Finding.Risk
	}
	return Note{Tool: c.Subject(), Client: c.Client, Risk: risk, Answer: answer}
}

// questionPlace describes where the question about c is shown.
func questionPlace(c *tool.Call) string {
	switch {
	case c.Origin == tool.Chat || c.Origin == tool.CLIAgent:
		return "in the conversation that waits for you"
	case c.Client != "":
		return "in " + c.Client
	}
	return "in the client that asks"
}
