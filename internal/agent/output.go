package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
)

// limitResult truncates a result to the limit of the conversation.
func (r *run) limitResult(ctx context.Context, p llm.Part) llm.Part {
	limit := r.turn.Config.ResultLimit
	if limit <= 0 {
		limit = chat.Defaults().ResultLimit
	}
	return r.truncate(ctx, p, limit)
}

// truncate cuts the text of p to limit bytes and adds a note on how to read the rest. The text, up to maxStored bytes,
// is stored as a blob of the session, which tool_output reads.
func (r *run) truncate(ctx context.Context, p llm.Part, limit int) llm.Part {
	if len(p.Text) <= limit {
		return p
	}
	full := p.Text
	at := cutPoint(full, limit)
	handle, err := r.sink.Blob(ctx, p.Name, "text/plain", []byte(full[:min(len(full), maxStored)]))
	note := fmt.Sprintf("\n[cut: %d of %d bytes are shown; %s with handle %q and offset %d reads on]", at, len(full), outputTool, handle, at)
	if err != nil {
		note = fmt.Sprintf("\n[cut: %d of %d bytes are shown; the rest could not be kept]", at, len(full))
	}
	p.Text = full[:at] + note
	return p
}

// readOutput is the tool tool_output: it returns the next part of a truncated result.
func (r *run) readOutput(ctx context.Context, args json.RawMessage) (tool.Result, error) {
	in := gjson.ParseBytes(args)
	handle, offset, limit := in.Get("handle").String(), int(in.Get("offset").Int()), int(in.Get("limit").Int())
	data, err := r.sink.ReadBlob(ctx, handle)
	switch {
	case handle == "" || err != nil:
		return tool.Result{}, &tool.Error{
			Op: "call", Kind: tool.NotFound, Subject: "handle", Message: "there is no result of this conversation with that handle",
			Hint: "take the handle from the end of a result that was cut", Err: err,
		}
	case offset < 0 || offset > len(data):
		return tool.Result{}, &tool.Error{Op: "call", Kind: tool.Invalid, Subject: "offset", Message: fmt.Sprintf("it is %d, expected 0 to %d", offset, len(data))}
	}
	if limit <= 0 || limit > chat.Defaults().ResultLimit-256 {
		limit = chat.Defaults().ResultLimit - 256
	}
	rest := string(data[offset:])
	at := cutPoint(rest, limit)
	text := rest[:at]
	if at < len(rest) {
		text += fmt.Sprintf("\n[%d of %d bytes were read up to here; go on with offset %d]", offset+at, len(data), offset+at)
	}
	raw, err := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": text}}})
	return tool.Result{Raw: raw}, err
}
