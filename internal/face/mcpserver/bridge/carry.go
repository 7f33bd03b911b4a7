package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"collie/internal/mcp"
	"collie/internal/tool"
)

const (
	// maxTries is how often a request is sent to a gateway at most.
	maxTries = 4
	// tellTime bounds the delivery of a message that gets no answer.
	tellTime = 10 * time.Second
)

// forward sends a request to a gateway and passes its response to f.reply. If a gateway goes away, a request
// that was not executed or may be repeated is sent to the next one.
func (r *relay) forward(f *request) error {
	if err := r.session.awaitOpen(f); err != nil {
		return err
	}
	for tries := 1; ; tries++ {
		a, err := r.awaitAttachment(f.ctx)
		if err != nil {
			return err
		}
		acknowledgedBefore := f.acknowledgements.Load()
		err = a.link.ask(f, a.generation)
		lost, ok := errors.AsType[*lostError](err)
		switch {
		case !ok:
			if err == nil && f.isInitialize() {
				r.startListening(a)
			}
			return err
		case f.ctx.Err() != nil:
			return context.Cause(f.ctx)
		}
		r.findAnother(a, err)
		if f.acknowledgements.Load() > acknowledgedBefore {
			tries = 0 // this gateway accepted the subscription, so it counts as a new beginning
			pause(f.ctx, firstWait)
		}
		if safe := !lost.sent || f.mayRepeat(); !safe || tries == maxTries {
			return lostOutcomeError(f, lost)
		}
	}
}

// lostOutcomeError returns the error for the client if a gateway went away with the request.
func lostOutcomeError(f *request, lost *lostError) error {
	e := &tool.Error{
		Op: f.m.Method, Kind: tool.Crashed, OutcomeUnknown: lost.sent, Err: lost.err,
		Message: "the gateway went away before it answered",
		Hint:    "send the request again",
	}
	if lost.sent {
		e.Message += ", and the request may have taken effect"
		e.Hint = "look whether it did before you send it again"
	}
	return &mcp.Error{Code: mcp.CodeInternal, Message: e.Error() + "; " + e.Hint, Data: e.Payload()}
}

// subscriptionHandler returns the function that receives the messages of a subscription, as f.heard. It passes on the first
// acknowledgement and all other messages. Each later acknowledgement comes from another gateway: the client, which knows of
// a single subscription, does not see it, but is told instead that all it has subscribed to may have changed.
func (f *request) subscriptionHandler(r *relay) func(int, []byte) {
	return func(generation int, raw []byte) {
		m, err := mcp.Parse(raw)
		if err != nil || m.Method != "notifications/subscriptions/acknowledged" {
			r.forwardMessage(generation, raw)
			return
		}
		if f.acknowledgements.Add(1) == 1 {
			r.forwardMessage(generation, raw)
			return
		}
		r.announceSubscribed(&m)
	}
}

// announceSubscribed tells the client that each list and resource that an acknowledgement names may have changed.
func (r *relay) announceSubscribed(acknowledgement *mcp.Message) {
	meta := mcp.Edit(nil, mcp.Field{Key: "_meta", Value: mcp.Get(acknowledgement.Params, "_meta")})
	granted := mcp.Get(acknowledgement.Params, "notifications")
	for _, list := range []string{"tools", "prompts", "resources"} {
		if string(mcp.Get(granted, list+"ListChanged")) == "true" {
			r.out.line(mcp.AppendNotification(nil, "notifications/"+list+"/list_changed", meta))
		}
	}
	var uris []json.RawMessage
	if json.Unmarshal(mcp.Get(granted, "resourceSubscriptions"), &uris) != nil {
		return
	}
	for _, uri := range uris {
		r.out.line(mcp.AppendNotification(nil, "notifications/resources/updated", mcp.Edit(meta, mcp.Field{Key: "uri", Value: uri})))
	}
}
