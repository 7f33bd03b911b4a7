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

// runTurnDialogue answers a message over a dialogue with the command line, whose person can be asked while the turn
// runs. The request begins with the body of a turn on one line. The response consists of
//
//	← {"event":{…}}                                 an event of the turn, from its first one; a snapshot where the caller was too slow
//	← {"ask":{"id":1,"method":…,"params":…}}        see [dialogue]
//	← {"turn":{…}}                                  the final state of the turn, last
//
// If the caller goes away, the turn goes on without a person.
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
	// A model may hold any key but that of the command line.
	if ask.Person = who.Manage && who.Origin == tool.Direct; ask.Person && gjson.GetBytes(t.Capabilities, string(tool.CanElicit)).Exists() {
		ask.Asker = &attachedPerson{dialogue: d, here: ctx}
	}
	before := s.Latest() // so that no event of a new turn is missed
	if t.TurnID != "" {  // it may run already, and then a snapshot says how far it is
		before = ""
	}
	accepted, err := b.begin(ctx, s, ask)
	if err != nil {
		return err
	}
	if accepted.Turn == "" { // the message was stored, and nothing runs
		return answer(w, accepted)
	}
	sub, err := s.Subscribe(ctx, chat.Filter{Turn: accepted.Turn}, before)
	if err != nil {
		return err
	}
	defer sub.Close()
	listening := make(chan struct{})
	go func() { // ends with the caller's side of the request
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
			return nil // the caller has gone
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

// askLine is a line of the answer by which a person is asked before a call runs, with method collie/confirm. Others have
// the members event or turn, or ask for what a server wants to know.
type askLine struct {
	Ask askedQuestion `json:"ask"`
}

type askedQuestion struct {
	ID     int           `json:"id"`
	Method string        `json:"method"`
	Params tool.Question `json:"params"`
}

// askAnswer is a line of the request behind the first one. Of several answers to one question the first counts.
type askAnswer struct {
	ID     int       `json:"id"` // of the question
	Result confirmed `json:"result"`
}

type confirmed struct {
	Confirm bool   `json:"confirm"`              // whether it may run
	Grant   string `json:"grant"`                // id of one of the grants that the question offers, to allow more than this call; any other is a no
	Before  bool   `json:"beforehand,omitempty"` // whether the person agreed before the question, as by an option of a command; the record says so
}

// errLeft is the cause when the person has gone.
var errLeft = errors.New("the person has left")

// attachedPerson asks the person at the other end of a dialogue, as long as the connection lasts.
type attachedPerson struct {
	*dialogue
	here context.Context //nolint:containedctx // it ends when the person leaves, whatever context they are asked with
}

// Ask asks the person. It fails if the person goes away.
func (p *attachedPerson) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.here, func() { cancel(context.Cause(p.here)) })()
	return p.dialogue.Ask(ctx, method, params)
}
