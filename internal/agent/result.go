package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
)

// This file renders tool results and errors as the text that a model reads.

// maxStored is how many bytes of a result are stored if the model sees only its beginning.
const maxStored = 10 << 20

// resultText renders a tool result for a model: all content in order. Images are returned as files if the model accepts
// them; other media are described by type and size. structuredContent is included unless a text repeats it.
func resultText(raw json.RawMessage, images bool) (text string, files []llm.File) {
	var b strings.Builder
	line := func(format string, args ...any) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, format, args...)
	}
	result := gjson.ParseBytes(raw)
	result.Get("content").ForEach(func(_, c gjson.Result) bool {
		switch c.Get("type").String() {
		case "text":
			line("%s", c.Get("text").String())
		case "image", "audio":
			kind, mime := c.Get("type").String(), c.Get("mimeType").String()
			data, err := base64.StdEncoding.DecodeString(c.Get("data").String())
			switch {
			case err != nil:
				line("[%s, %s, whose data is not base64]", kind, mime)
			case kind == "image" && images:
				files = append(files, llm.File{MIME: mime, Size: int64(len(data)), Data: data})
			default:
				line("[%s, %s, %d bytes, which this model cannot see]", kind, mime, len(data))
			}
		case "resource":
			r := c.Get("resource")
			if t := r.Get("text"); t.Exists() {
				line("[%s]\n%s", r.Get("uri").String(), t.String())
				break
			}
			line("[%s, %s, %d bytes]", r.Get("uri").String(), r.Get("mimeType").String(), base64.StdEncoding.DecodedLen(len(r.Get("blob").String())))
		case "resource_link":
			line("[%s: %s]", c.Get("name").String(), c.Get("uri").String())
		default:
			line("%s", c.Raw)
		}
		return true
	})
	if s := result.Get("structuredContent"); s.Exists() && !repeatsStructured(result) {
		line("%s", s.Raw)
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD"), files
}

// repeatsStructured reports whether a text of result is JSON: servers repeat structured content there, in whole or in
// part.
func repeatsStructured(result gjson.Result) bool {
	found := false
	result.Get("content").ForEach(func(_, c gjson.Result) bool {
		t := strings.TrimSpace(c.Get("text").String())
		found = c.Get("type").String() == "text" && strings.ContainsAny(t[:min(len(t), 1)], "{[") && gjson.Valid(t)
		return !found
	})
	return found
}

// cutPoint returns where to cut text to at most limit bytes: after the last line break or comma if that is in the last eighth, else
// after the last complete rune.
func cutPoint(text string, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	at := limit
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	if near := strings.LastIndexAny(text[:at], "\n,"); near > at-at/8 {
		return near + 1
	}
	return at
}

// skippedError returns the error for a call that was not made because the turn ended.
func skippedError(ctx context.Context) error {
	return &tool.Error{Op: "call", Kind: tool.Canceled, Message: "the turn ended before it began; nothing was done", Err: context.Cause(ctx)}
}

// errorText returns an error as a model receives it.
func errorText(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return string(e.Payload())
	}
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return `{"error":` + string(e.Raw) + `}`
	}
	return string((&tool.Error{Op: "call", Kind: tool.Internal, Err: err}).Payload())
}

// stateOf returns the state of a call that failed with err.
func stateOf(err error) chat.CallState {
	e, ok := errors.AsType[*tool.Error](err)
	switch {
	case ok && e.OutcomeUnknown:
		return chat.CallUnknown
	case tool.KindOf(err).Refused():
		return chat.CallRefused
	}
	return chat.CallFailed
}
