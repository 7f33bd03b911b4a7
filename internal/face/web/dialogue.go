package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

const streamType = "application/x-ndjson"

// hangupTimeout is how long a caller may take to end its side after the call is over.
const hangupTimeout = time.Second

// dialogue is a call whose caller can be notified and asked while it runs, within one HTTP request: one JSON
// value per line, in both directions at the same time.
//
//	caller → {"name":…,"args":{…},"capabilities":{"elicitation":{}},"confirms":true}
//	       ← {"notify":{"method":…,"params":…}}
//	       ← {"ask":{"id":1,"method":…,"params":…}}
//	caller → {"id":1,"result":…} or {"id":1,"error":{"code":…,"message":…}}
//	       ← {"isError":…,"result":…} or {"error":…} or {"protocolError":…}
//
// After the last line the caller ends its side. If the caller goes away, the call is cancelled.
type dialogue struct {
	capabilities json.RawMessage
	confirms     bool
	manages      bool
	progress     bool

	out lines

	mu      sync.Mutex
	lastAsk int
	waiting map[int]chan reply
}

type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// runDialogue runs one call as a dialogue.
func (a *api) runDialogue(w http.ResponseWriter, r *http.Request) error {
	rc := http.NewResponseController(w)
	if err := rc.EnableFullDuplex(); err != nil {
		return &tool.Error{Op: "call", Kind: tool.Internal, Message: "this connection cannot carry a dialogue", Err: err}
	}
	body := json.NewDecoder(r.Body)
	c, req, err := a.readCall(r, body)
	if err != nil {
		return err
	}
	d := &dialogue{
		capabilities: req.Capabilities, confirms: req.Confirms, manages: a.opts.Identify(r).Manage, progress: req.Progress || gjson.GetBytes(c.Params, "_meta.progressToken").Exists(),
		waiting: map[int]chan reply{},
	}
	if len(d.capabilities) == 0 {
		d.capabilities = json.RawMessage("{}")
	}
	c.Caller = d
	if req.Trace {
		c.Trace = d.trace
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	listening := make(chan struct{})
	go func() { // ends with the caller's side of the request
		defer close(listening)
		if err := d.listen(body); err != nil {
			cancel()
		}
	}()
	defer func() {
		// The caller has to end its side now; otherwise it is cut off, also after a panic: the server waits
		// for the end of the body.
		_ = rc.SetReadDeadline(time.Now().Add(hangupTimeout))
		<-listening
	}()
	w.Header().Set("Content-Type", streamType)
	_ = rc.Flush() // the first line may come late
	d.out.begin(w, rc, cancel)
	defer d.out.end()
	result, err := a.opts.Pipeline.Do(ctx, c)
	last := resultBody(result)
	if err != nil {
		_, last = errorBody(err)
	}
	d.out.send(last)
	return nil
}

// listen delivers the caller's replies until its side ends.
func (d *dialogue) listen(body *json.Decoder) error {
	for {
		var got reply
		if err := body.Decode(&got); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		d.mu.Lock()
		ch := d.waiting[got.ID]
		delete(d.waiting, got.ID)
		d.mu.Unlock()
		if ch != nil {
			ch <- got
		}
	}
}

// ID returns "": only the holder of the token is known.
func (*dialogue) ID() string { return "" }

// Supports goes by what the caller declared.
func (d *dialogue) Supports(what tool.Capability) bool {
	switch what {
	case tool.CanSample, tool.CanElicit, tool.CanRoots:
		return gjson.GetBytes(d.capabilities, string(what)).Exists()
	case tool.CanConfirm:
		return d.confirms
	case tool.SpeaksForPerson: // a token is not a person: its holder could confirm its own calls
		return d.manages
	case tool.WantsProgress:
		return d.progress
	case tool.TakesInputRequired, tool.Attends, tool.TakesAnyRequest:
	}
	return false
}

// Capabilities is what the caller declared.
func (d *dialogue) Capabilities() json.RawMessage { return d.capabilities }

// Notify passes a notification on. It does not wait for a caller that does not read, because the server that
// sends it serves others too.
func (d *dialogue) Notify(_ context.Context, method string, params json.RawMessage) {
	d.out.notify(slices.Concat(json.RawMessage(`{"notify":{`), message(method, params), json.RawMessage(`}}`)))
}

// trace passes on a step of the call.
func (d *dialogue) trace(kind, what string, took time.Duration) {
	params, err := json.Marshal(map[string]any{"kind": kind, "what": what, "us": took.Microseconds()})
	if err == nil { // strings and a number always encode
		d.Notify(context.Background(), tool.MethodTrace, params)
	}
}

// Ask asks the caller.
func (d *dialogue) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	d.mu.Lock()
	d.lastAsk++
	id, ch := d.lastAsk, make(chan reply, 1)
	d.waiting[id] = ch
	d.mu.Unlock()
	head := `{"ask":{"id":` + strconv.Itoa(id) + `,`
	d.out.send(slices.Concat(json.RawMessage(head), message(method, params), json.RawMessage(`}}`)))
	select {
	case got := <-ch:
		if len(got.Error) > 0 {
			e := gjson.ParseBytes(got.Error)
			return nil, &tool.ProtocolError{Code: int(e.Get("code").Int()), Message: e.Get("message").String(), Raw: got.Error}
		}
		return got.Result, nil
	case <-ctx.Done():
		d.mu.Lock()
		delete(d.waiting, id)
		d.mu.Unlock()
		return nil, context.Cause(ctx)
	}
}

// message returns the members that notifications and questions have in common.
func message(method string, params json.RawMessage) json.RawMessage {
	if len(params) == 0 {
		params = json.RawMessage("null")
	}
	return fmt.Appendf(nil, `"method":%q,"params":%s`, method, params)
}
