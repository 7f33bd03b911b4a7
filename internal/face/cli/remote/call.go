package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// Call sends c to the gateway as a dialogue: one JSON value a line both ways, so that c's
// Caller can be told and asked while the call runs. The gateway sets origin and principal.
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
	req.Header.Set("Expect", "100-continue")      // a refusal must not wait for the end of what we say
	go func() { _, _ = say.Write(callLine(c)) }() // ends when it is read, or with the pipe
	resp, err := r.client.Do(req)
	if err != nil {
		return tool.Result{}, r.cut(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return tool.Result{}, r.lost(ctx, err)
		}
		return tool.Result{}, Refused(resp.StatusCode, raw)
	}
	return r.converse(ctx, json.NewDecoder(resp.Body), say, c.Caller, c.Trace)
}

// callLine is the first line of a dialogue. The arguments keep their bytes.
func callLine(c tool.Request) []byte {
	name, _ := json.Marshal(c.Name)       // a string always encodes
	profile, _ := json.Marshal(c.Profile) // the same
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

// line is one line of the gateway's side.
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

// converse reads the gateway's side until the last line, and answers.
func (r *Client) converse(ctx context.Context, in *json.Decoder, out io.Writer, caller tool.Caller, trace tool.Trace) (tool.Result, error) {
	for {
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("it ended the answer too early")
			}
			return tool.Result{}, r.cut(ctx, err)
		}
		var got line
		if err := r.decode(raw, &got); err != nil {
			return tool.Result{}, err
		}
		switch {
		case got.Result != nil:
			return tool.Result{Raw: got.Result, IsError: got.Failed}, nil
		case got.Notify != nil && got.Notify.Method == tool.MethodTrace && trace != nil:
			told := gjson.ParseBytes(got.Notify.Params)
			trace(rawjson.Member(told, "kind").String(), rawjson.Member(told, "what").String(), time.Duration(rawjson.Member(told, "us").Int())*time.Microsecond)
		case got.Notify != nil && caller != nil:
			caller.Notify(ctx, got.Notify.Method, got.Notify.Params)
		case got.Ask != nil && caller != nil:
			// Its answer may take a while; notices and the end of the call do not wait for it.
			go replyTo(ctx, out, caller, *got.Ask)
		case got.Notify == nil && got.Ask == nil:
			return tool.Result{}, Refused(http.StatusOK, raw)
		}
	}
}

// cut is the error of a call whose answer did not come: it may have taken effect.
func (r *Client) cut(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return &tool.Error{Op: "call", Kind: tool.Canceled, OutcomeUnknown: true, Err: cause}
	}
	if e, ok := r.lost(ctx, err).(*tool.Error); ok { //nolint:errorlint // lost makes it
		e.OutcomeUnknown = true
		return e
	}
	return err
}

// replyTo puts a question to the caller and sends the answer. It ends with ctx at the latest.
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
	_, _ = locale.Fprintf(out, "{\"id\":%d,%q:%s}\n", ask.ID, field, result) // a call that is over needs no answer
}

// CodeInternal and codeMethod are JSON-RPC's codes for a failure and for a method that is
// not there.
const (
	CodeInternal = -32603
	CodeMethod   = -32601
)
