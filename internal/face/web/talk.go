package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/tool"
)

// runTurnDialogue answers a message over a dialogue with the command line. That lets the person be asked while the turn
// runs. The first line of the request is the body of a turn. The response consists of
//
//	← {"event":{…}}                                 an event of the turn, from its first one; a snapshot where the caller was too slow
//	← {"ask":{"id":1,"method":…,"params":…}}        see [dialogue]
//	← {"turn":{…}}                                  the final state of the turn, last
//
// If the client disconnects, the turn continues without a person.
func (a *api) runTurnDialogue(w http.ResponseWriter, r *http.Request, s *chat.Service, b *beginning) error {
	rc := http.NewResponseController(w)
	if err := rc.EnableFullDuplex(); err != nil {
		return &tool.Error{Op: "send", Kind: tool.Internal, Message: "this connection cannot carry a dialogue", Err: err}
	}
	body := json.NewDecoder(r.Body)
	if err := body.Decode(b.into); err != nil {
		return &tool.Error{Op: "send", Kind: tool.Invalid, Subject: "body", Message: "expected " + b.example, Err: err}
	}
	who, t := a.opts.Identify(r), b.common
	if err := restrictConfig(&who, &t.Overrides, true); err != nil {
		return err
	}
	d := &dialogue{capabilities: t.Capabilities, waiting: map[int]chan reply{}}
	ctx, gone := context.WithCancelCause(r.Context())
	defer gone(nil)
	ask := chat.TurnOptions{TurnID: t.TurnID, Overrides: t.Overrides, Principal: who.Principal}
	// Any key except that of the command line may be held by a model.
	if ask.Person = who.Manage && who.Origin == tool.Direct; ask.Person && gjson.GetBytes(t.Capabilities, string(tool.CanElicit)).Exists() {
		ask.Asker = &attachedPerson{dialogue: d, here: ctx}
	}
	before := s.Latest() // so that no event of a new turn is missed
	if t.TurnID != "" {  // the turn may be running already; then a snapshot has its state
		before = ""
	}
	accepted, err := b.begin(ctx, s, ask)
	if err != nil {
		return err
	}
	if accepted.Turn == "" { // the message was stored, but no turn was started
		return answer(w, accepted)
	}
	sub, err := s.Subscribe(ctx, chat.Filter{Turn: accepted.Turn}, before)
	if err != nil {
		return err
	}
	defer sub.Close()
	listening := make(chan struct{})
	go func() { // ends when the client closes the request
		defer close(listening)
		if err := d.listen(body); err != nil {
			gone(errLeft)
		}
	}()
	defer func() {
		_ = rc.SetReadDeadline(time.Now().Add(hangupTimeout))
		<-listening
	}()
	w.Header().Set("Content-Type", streamType)
	_ = rc.Flush()
	d.out.begin(w, rc, func() { gone(errLeft) })
	defer d.out.end()
	for {
		events, err := sub.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil // the client has disconnected
		}
		a.opts.Streams()
		for _, e := range events {
			d.out.send(slices.Concat(json.RawMessage(`{"event":`), e.Body, json.RawMessage(`}`)))
		}
	}
	snapshot, err := s.Turn(ctx, accepted.Turn)
	last := json.RawMessage(nil)
	if err == nil {
		last, err = json.Marshal(map[string]any{"turn": snapshot})
	}
	if err != nil {
		_, last = errorBody(err)
	}
	d.out.send(last)
	return nil
}

// askLine is a response line that asks a person before a call runs, with method collie/confirm. Other lines have the
// members event or turn, or are questions of a server.
type askLine struct {
	Ask askedQuestion `json:"ask"`
}

type askedQuestion struct {
	ID     int           `json:"id"`
	Method string        `json:"method"`
	Params tool.Question `json:"params"`
}

// askAnswer is a request line after the first. If there are several answers to a question, the first one counts.
type askAnswer struct {
	ID     int       `json:"id"` // id of the question
	Result confirmed `json:"result"`
}

type confirmed struct {
	Confirm bool   `json:"confirm"`              // whether the call may run
	Grant   string `json:"grant"`                // id of an offered grant, to allow more than this call; any other id is a refusal
	Before  bool   `json:"beforehand,omitempty"` // whether the person agreed in advance, as with a flag of the command; it is recorded
}

// errLeft is the cause if the person's client has disconnected.
var errLeft = errors.New("the person has left")

// attachedPerson asks the person at the other end of a dialogue while the connection lasts.
type attachedPerson struct {
	*dialogue
	here context.Context //nolint:containedctx // ends when the client disconnects
}

// Ask asks the person. It fails if the client disconnects.
func (p *attachedPerson) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.here, func() { cancel(context.Cause(p.here)) })()
	return p.dialogue.Ask(ctx, method, params)
}
