package siyuan

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

// result is the MCP result of a run: the JSON as text, and as structured content.
func (s *Source) result(r *action.Request, raw json.RawMessage) tool.Result {
	if r.Config.Slim && !r.Meta.Verbose {
		raw = slim(raw, r.Action.Returned())
	}
	return asResult(capped(raw, s.opts.MaxResult))
}

// asResult is the MCP result of a payload.
func asResult(payload json.RawMessage) tool.Result {
	structured := payload
	if len(payload) == 0 || payload[0] != '{' {
		structured = append(append([]byte(`{"value":`), payload...), '}')
	}
	text, err := action.Encode(string(payload))
	if err != nil {
		panic("siyuan: a text does not encode: " + err.Error())
	}
	out := make([]byte, 0, len(text)+len(structured)+64)
	out = append(append(append(out, `{"content":[{"type":"text","text":`...), text...), `}],"structuredContent":`...)
	return tool.Result{Raw: append(append(out, structured...), '}')}
}

// slim leaves the verbose members of a result out.
func slim(raw json.RawMessage, fields []action.Field) json.RawMessage {
	drop := map[string]bool{}
	for _, f := range fields {
		if f.Verbose {
			drop[f.Name] = true
		}
	}
	if len(drop) == 0 {
		return raw
	}
	return json.RawMessage(prune(gjson.ParseBytes(raw), "", drop))
}

// prune is v without the members whose paths are in drop: "a.b" in an object, "a[].b" in the
// items of a list.
func prune(v gjson.Result, path string, drop map[string]bool) string {
	if !below(path, drop) {
		return v.Raw
	}
	var b strings.Builder
	n := 0
	comma := func() {
		if n++; n > 1 {
			b.WriteByte(',')
		}
	}
	switch {
	case v.IsObject():
		b.WriteByte('{')
		v.ForEach(func(k, m gjson.Result) bool {
			at := k.String()
			if path != "" {
				at = path + "." + at
			}
			if !drop[at] {
				comma()
				b.WriteString(k.Raw + ":" + prune(m, at, drop))
			}
			return true
		})
		b.WriteByte('}')
	case v.IsArray():
		b.WriteByte('[')
		v.ForEach(func(_, item gjson.Result) bool {
			comma()
			b.WriteString(prune(item, path+"[]", drop))
			return true
		})
		b.WriteByte(']')
	default:
		return v.Raw
	}
	return b.String()
}

// below reports whether anything at or below a path is to be left out.
func below(path string, drop map[string]bool) bool {
	for d := range drop {
		if strings.HasPrefix(d, path) {
			return true
		}
	}
	return false
}
