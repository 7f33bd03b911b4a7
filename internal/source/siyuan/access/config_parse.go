package access

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"collie/internal/tool"
)

// This file parses the tool config of a workspace, in any of its three formats.

// decodeConfig parses a tool config. It returns nil for JSON that is not an object, which counts as no file. Numbers
// keep their digits.
func decodeConfig(raw []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errNoJSON
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errNoJSON
	}
	object, _ := v.(map[string]any)
	return object, nil
}

// parse reads a tool config of any of the three formats, on top of the defaults. What it does not know becomes a
// finding and has no effect.
func (k Known) parse(raw map[string]any) *Config {
	p := &parser{known: k, config: k.defaults(), raw: raw}
	for name := range k {
		p.config.ToolOn[name] = true // closeEmpty turns it off again if nothing is on
	}
	p.config.Format = p.guessFormat()
	p.parseSwitches()
	p.parseSettings()
	p.config.closeEmpty()
	slices.Sort(p.config.Findings)
	return p.config
}

// parser is the state of reading one tool config.
type parser struct {
	known  Known
	raw    map[string]any
	config *Config
}

func (p *parser) addFinding(format string, args ...any) {
	p.config.Findings = append(p.config.Findings, fmt.Sprintf(format, args...))
}

// guessFormat guesses the format from the members. One object with actions is enough for the nested format.
func (p *parser) guessFormat() string {
	flat := false
	for name, v := range p.raw {
		if object, ok := v.(map[string]any); ok {
			if _, ok := object["actions"].(map[string]any); ok {
				return formatNested
			}
		}
		if _, ok := flatNames[name]; ok {
			flat = true
		}
	}
	for name := range p.known {
		switch p.raw[name].(type) {
		case []any, bool:
			return formatCategory
		}
	}
	if flat {
		return formatFlat
	}
	return formatNested
}

// parseSwitches reads which tools and actions are on.
func (p *parser) parseSwitches() {
	nested := p.config.Format == formatNested
	p.config.old = !nested
	// In sorted order, so that the same file gives the same findings.
	for _, name := range slices.Sorted(maps.Keys(p.raw)) {
		if _, known := p.known[name]; known {
			p.parseTool(name, p.raw[name], nested)
		} else if _, legacy := flatNames[name]; !legacy && !elsewhereNames[name] {
			p.addFinding("%s: unknown name%s", name, didYouMean(name, slices.Sorted(maps.Keys(p.known))))
		}
	}
	p.parseFlat(nested)
	p.defaultCompareRecent()
}

// parseTool reads one tool's member.
func (p *parser) parseTool(name string, v any, nested bool) {
	switch v := v.(type) {
	case map[string]any:
		p.parseNested(name, v)
	case []any:
		if nested {
			p.addFinding("%s: a list of actions counts only in a file of the older format", name)
			return
		}
		p.parseList(name, v)
	case bool:
		if nested {
			p.addFinding("%s: expected an object with \"enabled\" and \"actions\", got %t", name, v)
			return
		}
		p.config.ToolOn[name] = v
	default:
		p.addFinding("%s: expected an object with \"enabled\" and \"actions\"", name)
	}
}

// parseNested reads {"enabled": …, "actions": {…}}. If several old names stand for one action, a single true turns it
// on; the current name overrides them.
func (p *parser) parseNested(name string, object map[string]any) {
	if v, ok := object["enabled"]; ok {
		if on, ok := v.(bool); ok {
			p.config.ToolOn[name] = on
		} else {
			p.addFinding("%s.enabled: expected true or false", name)
		}
	}
	v, ok := object["actions"]
	if !ok {
		return
	}
	actions, ok := v.(map[string]any)
	if !ok {
		p.addFinding("%s.actions: expected an object of action names and true or false", name)
		return
	}
	former := map[string]bool{}
	for _, action := range slices.Sorted(maps.Keys(actions)) {
		on, isBool := actions[action].(bool)
		_, known := p.known[name][action]
		now, old := formerNames[name][action]
		switch {
		case !known && !old:
			p.addFinding("%s.actions.%s: unknown action%s", name, action, didYouMean(action, slices.Sorted(maps.Keys(p.known[name]))))
		case !isBool:
			p.addFinding("%s.actions.%s: expected true or false", name, action)
		case known:
			p.config.On[name][action] = on
		default:
			p.config.old = true
			former[now] = former[now] || on
		}
	}
	for action, on := range former {
		_, known := p.known[name][action]
		if _, isSet := actions[action].(bool); known && !isSet {
			p.config.On[name][action] = on
		}
	}
}

// didYouMean returns the end of a finding about an unknown name: the known name that is nearest.
func didYouMean(name string, known []string) string {
	if near, ok := tool.Nearest(name, known); ok {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// defaultCompareRecent turns timeline's action compare_recent off unless the file names it. The action was added later
// and lets callers read more, so an old file must not turn it on.
func (p *parser) defaultCompareRecent() {
	const name, action = "timeline", "compare_recent"
	object, _ := p.raw[name].(map[string]any)
	actions, _ := object["actions"].(map[string]any)
	_, isSet := actions[action].(bool)
	if list, ok := p.raw[name].([]any); ok {
		isSet = slices.Contains(list, any(action))
	}
	if _, known := p.known[name][action]; known && !isSet {
		p.config.On[name][action] = false
	}
}

// parseSettings reads everything but switches.
func (p *parser) parseSettings() {
	c := p.config
	section := func(name string) map[string]any { object, _ := p.raw[name].(map[string]any); return object }
	if v, ok := section("file")["uploadLargeFileThresholdMB"]; ok {
		c.UploadMB = p.parseMegabytes(v)
	}
	p.readText(&c.UserRules, "userRulesText")
	p.readText(&c.Memory, "agentSiyuanMemoryText")
	var at string
	p.readText(&at, "agentSiyuanMemoryUpdatedAt")
	if at != "" {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			p.addFinding("agentSiyuanMemoryUpdatedAt: expected a time such as 2026-01-31T08:00:00Z, got %q", at)
		}
		c.MemoryAt = t
	}
	var strict bool
	if p.readFlag(&strict, "writeSafety.strictMode", section("writeSafety")["strictMode"]) {
		c.Strict = &strict
	}
	p.readFlag(&c.SoftErrors, "errorReporting.softRecoverableErrors", section("errorReporting")["softRecoverableErrors"])
	p.readFlag(&c.Slim, "debug.slimResponses", section("debug")["slimResponses"])
	p.readFlag(&c.ReadOnly, "readOnlyTools", p.raw["readOnlyTools"])
}

// parseMegabytes reads the upload threshold, rounded down and limited to 1 to 1024; 10 if it is not a number.
func (p *parser) parseMegabytes(v any) int {
	n, _ := v.(json.Number)
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		p.addFinding("file.uploadLargeFileThresholdMB: expected a number from 1 to 1024")
		return 10
	}
	return int(min(max(math.Floor(f), 1), 1024))
}

func (p *parser) readText(to *string, name string) {
	v, present := p.raw[name]
	s, ok := v.(string)
	if present && !ok {
		p.addFinding("%s: expected a text", name)
	}
	*to = s
}

// readFlag reads a boolean and reports whether v is one.
func (p *parser) readFlag(to *bool, name string, v any) bool {
	b, ok := v.(bool)
	switch {
	case ok:
		*to = b
	case v != nil:
		p.addFinding("%s: expected true or false", name)
	}
	return ok
}

// canonical returns raw in the current format: every known tool has its object with all its actions, on or off, old
// names are replaced, and unknown members stay as they are.
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

// encodeConfig returns the text of a tool config, indented for people.
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
