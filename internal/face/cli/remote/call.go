package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file makes calls through a running gateway, which can ask the caller questions while the call runs.

// Call sends c to the gateway as a dialogue, one JSON value per line in both directions, so that c's Caller
// can be notified and asked while the call runs. The gateway sets origin and principal.
func (r *Client) Call(ctx context.Context, c tool.Request) (tool.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, say := io.Pipe()
	defer say.Close()
	defer context.AfterFunc(ctx, func() { _ = say.CloseWithError(context.Cause(ctx)) })()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Gateway.URL+"/api/v1/calls", body)
	if err != nil {
		return tool.Result{}, err
	}
	req.Header.Set("Authorization", "Bearer "+r.Gateway.Control)
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.Header.Set("Expect", "100-continue")      // the gateway can refuse before we have sent everything
	go func() { _, _ = say.Write(callLine(c)) }() // ends when the request was read, or with the pipe
	resp, err := r.client.Do(req)
	if err != nil {
		return tool.Result{}, r.lostAnswer(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return tool.Result{}, r.goneError(ctx, err)
		}
		return tool.Result{}, RefusalError(resp.StatusCode, raw)
	}
	return r.converse(ctx, json.NewDecoder(resp.Body), say, c.Caller, c.Trace)
}

// callLine returns the first line of a dialogue, which describes the call. The arguments are copied byte for byte.
func callLine(c tool.Request) []byte {
	name, _ := json.Marshal(c.Name)       // a string always encodes
	profile, _ := json.Marshal(c.Profile) // likewise
	line := slices.Concat([]byte(`{"name":`), name, []byte(`,"profile":`), profile, []byte(`,"args":`), c.Args)
	if c.Caller != nil {
		line = slices.Concat(line, []byte(`,"capabilities":`), c.Caller.Capabilities())
		if c.Caller.Supports(tool.CanConfirm) {
			line = append(line, `,"confirms":true`...)
		}
		if c.Caller.Supports(tool.WantsProgress) {
			line = append(line, `,"progress":true`...)
		}
	}
	if c.Trace != nil {
		line = append(line, `,"trace":true`...)
	}
	return append(line, "}\n"...)
}

// line is one line from the gateway.
type line struct {
	Notify *message        `json:"notify"`
	Ask    *message        `json:"ask"`
	Result json.RawMessage `json:"result"`
	Failed bool            `json:"isError"`
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// converse reads the gateway's lines until the last one, and answers questions.
func (r *Client) converse(ctx context.Context, in *json.Decoder, out io.Writer, caller tool.Caller, trace tool.Trace) (tool.Result, error) {
	for {
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("it ended the answer too early")
			}
			return tool.Result{}, r.lostAnswer(ctx, err)
		}
		var got line
		if err := r.decode(raw, &got); err != nil {
			return tool.Result{}, err
		}
		switch {
		case got.Result != nil:
			return tool.Result{Raw: got.Result, IsError: got.Failed}, nil
		case got.Notify != nil && got.Notify.Method == tool.MethodTrace && trace != nil:
			params := gjson.ParseBytes(got.Notify.Params)
			trace(rawjson.Member(params, "kind").String(), rawjson.Member(params, "what").String(), time.Duration(rawjson.Member(params, "us").Int())*time.Microsecond)
		case got.Notify != nil && caller != nil:
			caller.Notify(ctx, got.Notify.Method, got.Notify.Params)
		case got.Ask != nil && caller != nil:
			// An answer may take a while; notifications and the end of the call do not wait for it.
			go replyTo(ctx, out, caller, *got.Ask)
		case got.Notify == nil && got.Ask == nil:
			return tool.Result{}, RefusalError(http.StatusOK, raw)
		}
	}
}

// lostAnswer returns the error for a call that was not answered: unless there was no connection, it may have taken effect.
func (r *Client) lostAnswer(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return &tool.Error{Op: "call", Kind: tool.Canceled, OutcomeUnknown: true, Err: cause}
	}
	if e, ok := r.goneError(ctx, err).(*tool.Error); ok { //nolint:errorlint // goneError returns that very type
		if op, ok := errors.AsType[*net.OpError](err); !ok || op.Op != "dial" {
			e.OutcomeUnknown, e.Hint = true, "" // no advice to make the call again without the gateway
		}
		return e
	}
	return err
}

// replyTo asks the caller a question and sends the answer. It ends with ctx at the latest.
func replyTo(ctx context.Context, out io.Writer, caller tool.Caller, ask message) {
	result, err := caller.Ask(ctx, ask.Method, ask.Params)
	field := "result"
	if err != nil {
		e, ok := errors.AsType[*tool.ProtocolError](err)
		if !ok {
			e = tool.NewProtocolError(CodeInternal, err.Error(), nil)
		}
		field, result = "error", e.Raw
	}
	_, _ = fmt.Fprintf(out, "{\"id\":%d,%q:%s}\n", ask.ID, field, result) // an error means that the call is over and needs no answer
}

// The JSON-RPC 2.0 error codes for an internal error and for an unknown method.
const (
	CodeInternal = -32603
	CodeMethod   = -32601
)
