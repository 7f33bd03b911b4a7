package bridge

import (
	"strconv"
	"strings"
	"sync"

	"collie/internal/mcp"
)

// pendingQuestions are the questions from gateways that the client has not answered yet. Every gateway numbers its
// questions from the same start, so those of all gateways but the first get new ids.
type pendingQuestions struct {
	mu   sync.Mutex
	open map[mcp.ID]int // by the id for the client; the value is the gateway's generation
}

const askPrefix = `"collie-`

// clientID returns the id that the client gets for a question.
func clientID(generation int, id mcp.ID) mcp.ID {
	if generation <= 1 {
		return id
	}
	return mcp.ID(mcp.Quote("collie-" + strconv.Itoa(generation) + "-" + string(id)))
}

// gatewayID converts such an id back to the gateway's id.
func gatewayID(id mcp.ID) mcp.ID {
	text, ok := mcp.Text([]byte(id))
	if !ok || !strings.HasPrefix(string(id), askPrefix) {
		return id
	}
	_, rest, _ := strings.Cut(strings.TrimPrefix(text, "collie-"), "-")
	return mcp.ID(rest)
}

// add records a question and returns the message for the client.
func (a *pendingQuestions) add(generation int, m *mcp.Message) []byte {
	id := clientID(generation, m.ID)
	a.mu.Lock()
	a.open[id] = generation
	a.mu.Unlock()
	if id == m.ID {
		return m.Raw
	}
	return mcp.Edit(m.Raw, mcp.Field{Key: "id", Value: []byte(id)})
}

// cancel forgets a question that the gateway cancels, and returns the notification for the client.
func (a *pendingQuestions) cancel(generation int, m *mcp.Message) []byte {
	askID := mcp.ID(mcp.Get(m.Params, "requestId"))
	id := clientID(generation, askID)
	a.mu.Lock()
	delete(a.open, id)
	a.mu.Unlock()
	if id == askID || askID == "" {
		return m.Raw
	}
	params := mcp.Edit(m.Params, mcp.Field{Key: "requestId", Value: []byte(id)})
	return mcp.Edit(m.Raw, mcp.Field{Key: "params", Value: params})
}

// answer returns the client's answer in the form for the gateway that asked. ok is false if the question is
// unknown or no longer open.
func (a *pendingQuestions) answer(m *mcp.Message) (raw []byte, generation int, ok bool) {
	a.mu.Lock()
	generation, ok = a.open[m.ID]
	delete(a.open, m.ID)
	a.mu.Unlock()
	if generation > 1 {
		return mcp.Edit(m.Raw, mcp.Field{Key: "id", Value: []byte(gatewayID(m.ID))}), generation, ok
	}
	return m.Raw, generation, ok
}

// cancelBefore cancels the questions of all gateways before a generation, and returns the notifications for the
// client.
func (a *pendingQuestions) cancelBefore(generation int) (notices [][]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, g := range a.open {
		if g < generation {
			delete(a.open, id)
			notices = append(notices, mcp.AppendNotification(nil, "notifications/cancelled", mcp.Edit(nil,
				mcp.Field{Key: "requestId", Value: []byte(id)}, mcp.Field{Key: "reason", Value: mcp.Quote("the gateway that asked has gone")})))
		}
	}
	return notices
}
