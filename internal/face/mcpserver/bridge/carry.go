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
	if err := r.session.await(f); err != nil {
		return err
	}
	for tries := 1; ; tries++ {
		a, err := r.awaitAttachment(f.ctx)
		if err != nil {
			return err
		}
		acked := f.acked.Load()
		err = a.link.ask(f, a.generation)
		lost, ok := errors.AsType[*lostError](err)
		switch {
		case !ok:
			if err == nil && f.isInitialize() {
				r.listen(a)
			}
			return err
		case f.ctx.Err() != nil:
			return context.Cause(f.ctx)
		}
		r.findAnother(a, err)
		if f.acked.Load() > acked {
			tries = 0 // the subscription worked for a while
			pause(f.ctx, firstLook)
		}
		if lost.sent && !f.isReadOnly() || tries == maxTries {
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

// listener returns the function that receives the messages of a subscription. After a change of gateway it
// hides the second acknowledgement, so that the client sees a single subscription.
func (f *request) listener(r *relay) func(int, []byte) {
	return func(generation int, raw []byte) {
		m, err := mcp.Parse(raw)
		if err != nil || m.Method != "notifications/subscriptions/acknowledged" {
			r.forwardMessage(generation, raw)
			return
		}
		if f.acked.Add(1) == 1 {
			r.forwardMessage(generation, raw)
			return
		}
		meta := mcp.Edit(nil, mcp.Field{Key: "_meta", Value: mcp.Get(m.Params, "_meta")})
		granted := mcp.Get(m.Params, "notifications")
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
}
