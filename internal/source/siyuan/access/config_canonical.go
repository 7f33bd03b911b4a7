package access

import (
	"bytes"
	"encoding/json"
	"maps"
)

// canonical is raw in the form of today: every tool that is known has its object with what
// is on, old names are gone, and what nobody knows stays as it is.
func (k Known) canonical(raw map[string]any) map[string]any {
	c := k.parse(raw)
	out := maps.Clone(raw)
	if out == nil {
		out = map[string]any{}
	}
	if c.Format != formatNested {
		for name := range flatNames {
			if _, isTool := k[name]; !isTool {
				delete(out, name)
			}
		}
	}
	for name, actions := range c.On {
		object, _ := out[name].(map[string]any)
		object = maps.Clone(object)
		if object == nil {
			object = map[string]any{}
		}
		listed, _ := object["actions"].(map[string]any)
		listed = maps.Clone(listed)
		if listed == nil {
			listed = map[string]any{}
		}
		for former := range formerNames[name] {
			delete(listed, former)
		}
		for action, on := range actions {
			listed[action] = on
		}
		object["actions"], object["enabled"] = listed, c.ToolOn[name]
		out[name] = object
	}
	return out
}

// encodeConfig is the text of a tool config, for people too.
func encodeConfig(raw map[string]any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(raw); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
