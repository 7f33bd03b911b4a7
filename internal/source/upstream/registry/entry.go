package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"collie/internal/tool"
)

// This file makes an entry for the settings from what the registry says and what a person has given.

// entryJSON is an entry for the settings.
type entryJSON struct {
	Description string            `json:"description,omitempty"`
	Registry    string            `json:"registry"`
	Type        string            `json:"type,omitempty"`
	Command     string            `json:"command,omitempty"`
	Args        []string          `json:"args,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	URL         string            `json:"url,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
}

// Entry returns the entry for the settings, standard JSON. given has the values of inputs by their keys, as they stand in
// settings: a secret as ${secret:NAME}. What the registry says itself is escaped, so that no variable in it is expanded.
// env and headers are added, and win.
func (s *Server) Entry(w *Way, given, env, headers map[string]string) (json.RawMessage, error) {
	if w.Refused != "" {
		return nil, &tool.Error{Op: op, Kind: tool.Denied, Subject: s.Name, Message: w.Refused, Hint: "if you trust it, add it by hand: collie mcp add NAME -- COMMAND ARG…"}
	}
	if err := s.checkGiven(w, given); err != nil {
		return nil, err
	}
	person := given
	given = maps.Clone(given)
	for _, in := range w.Inputs {
		if given[in.Key] == "" && in.Default != "" {
			if given == nil {
				given = map[string]string{}
			}
			given[in.Key] = escape(in.Default)
		}
	}
	e := entryJSON{Description: s.Description, Registry: s.Pinned(), Command: w.command}
	texts := func(ps []part) map[string]string {
		out := map[string]string{}
		for _, p := range ps {
			if v, ok := p.text(given); ok {
				out[p.name] = v
			}
		}
		return out
	}
	if w.Kind == Remote {
		e.URL, _ = w.url.text(given)
		if why := wrongURL(w.urlToCheck(given, person)); why != "" {
			return nil, &tool.Error{Op: op, Kind: tool.Denied, Subject: s.Name, Message: why}
		}
		e.Type, e.Headers = "http", texts(w.headers)
		if w.sse {
			e.Type = "sse"
		}
		maps.Copy(e.Headers, headers)
		return encode(e)
	}
	e.Env = texts(w.env)
	maps.Copy(e.Env, env)
	for _, p := range w.before {
		e.Args = append(e.Args, p.words(given)...)
	}
	if w.Kind == OCI {
		for _, name := range slices.Sorted(maps.Keys(e.Env)) {
			e.Args = append(e.Args, "-e", name)
		}
	}
	e.Args = append(e.Args, escape(w.Package))
	for _, p := range w.after {
		e.Args = append(e.Args, p.words(given)...)
	}
	return encode(e)
}

// urlToCheck returns the URL with the given values, and with x for each that is a variable in the settings of the person.
func (w *Way) urlToCheck(given, person map[string]string) string {
	given = maps.Clone(given)
	for key, v := range person {
		if strings.Contains(v, "${") {
			given[key] = "x"
		}
	}
	text, _ := w.url.text(given)
	return text
}

func encode(e entryJSON) (json.RawMessage, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return bytes.TrimSpace(text.Bytes()), err
}

// checkGiven checks values that a person has given.
func (s *Server) checkGiven(w *Way, given map[string]string) error {
	for key := range given {
		if !slices.ContainsFunc(w.Inputs, func(in Input) bool { return in.Key == key }) {
			var known []string
			for _, in := range w.Inputs {
				known = append(known, in.Key)
			}
			hint := "it asks for nothing"
			if len(known) > 0 {
				hint = "it asks for " + strings.Join(known, ", ")
			}
			return &tool.Error{Op: op, Kind: tool.Invalid, Subject: key, Message: s.Name + " asks for no such input", Hint: hint}
		}
	}
	for _, in := range w.Inputs {
		v := given[in.Key]
		variable := strings.HasPrefix(v, "${")
		switch why := wrongText(v); {
		case v == "" && in.Required && in.Default == "":
			return &tool.Error{Op: op, Kind: tool.Invalid, Subject: in.Key, Message: "a value is missing, which " + s.Name + " needs", Hint: in.Description}
		case why != "":
			return &tool.Error{Op: op, Kind: tool.Invalid, Subject: in.Key, Message: "the value " + why}
		case v != "" && !variable && len(in.Choices) > 0 && !slices.Contains(in.Choices, v):
			return &tool.Error{Op: op, Kind: tool.Invalid, Subject: in.Key, Message: fmt.Sprintf("the value is %q", v), Hint: "one of " + strings.Join(in.Choices, ", ")}
		case v != "" && !variable && in.Place == "url" && !inputKey.MatchString(v):
			return &tool.Error{Op: op, Kind: tool.Invalid, Subject: in.Key, Message: fmt.Sprintf("%q cannot be part of a URL", v), Hint: "letters, digits, ., _ and -"}
		}
	}
	return nil
}

// text returns the part with its inputs filled in. It returns false if the part is left out, because it is optional and
// an input has no value.
func (p *part) text(given map[string]string) (string, bool) {
	var out strings.Builder
	for _, piece := range p.pieces {
		v := escape(piece.text)
		if piece.key != "" {
			if v = given[piece.key]; v == "" && p.optional {
				return "", false
			}
		}
		if strings.HasSuffix(out.String(), "$") && strings.HasPrefix(v, "{") {
			out.WriteByte('$')
		}
		out.WriteString(v)
	}
	return out.String(), true
}

// words returns a part as arguments of a command: a flag, a value, or both. There are none if the part is left out.
func (p *part) words(given map[string]string) []string {
	if p.flag {
		return []string{p.name}
	}
	v, ok := p.text(given)
	switch {
	case !ok:
		return nil
	case p.name == "":
		return []string{v}
	}
	return []string{p.name, v}
}

// escape makes a text of strangers a literal in the settings, where ${…} would be a variable or a secret.
func escape(s string) string { return strings.ReplaceAll(s, "${", "$${") }
