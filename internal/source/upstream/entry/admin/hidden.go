package admin

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/upstream/entry"
)

// This file shows an entry with its secrets masked.

const hiddenText = "***"

// redact masks the given secrets, and whatever looks like one, in JSON.
type redact func(secrets []string, raw json.RawMessage) json.RawMessage

// HiddenEntry returns a server entry for display: secrets read "***", references such as ${GITHUB_TOKEN} stay. dir is
// the folder of its file. The order of members is not kept.
func HiddenEntry(name string, raw json.RawMessage, dir string, redact redact) json.RawMessage {
	// All variables are empty, so the only secrets found are those in the file itself.
	e, _ := entry.Parse(name, raw, entry.Options{Dir: dir, Env: func(string) (string, bool) { return "", true }})
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return redact(e.Secrets, raw) // not an object
	}
	visible := shownParts(&e, fields)
	for name := range visible {
		delete(fields, name)
	}
	for _, name := range []string{"env", "headers", "auth"} {
		if v, ok := fields[name]; ok {
			visible[name] = hideTexts(v)
			delete(fields, name)
		}
	}
	out := map[string]json.RawMessage{}
	if json.Unmarshal(redact(e.Secrets, encode(fields)), &out) != nil {
		panic("admin: a redacted entry is not JSON")
	}
	maps.Copy(out, visible)
	return encode(out)
}

// shownParts returns the members that an entry can display itself. It masks what follows a flag such as --token, and
// the values of a query, however short they are.
func shownParts(e *entry.Entry, fields map[string]json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, name := range []string{"url", "serverUrl", "httpUrl"} {
		var s string
		if json.Unmarshal(fields[name], &s) == nil && s != "" {
			out[name] = encode(e.URL.String())
		}
	}
	var args []string
	if json.Unmarshal(fields["args"], &args) == nil && len(args) > 0 && len(args) <= len(e.Args) {
		given := e.Args[len(e.Args)-len(args):] // the others came from "command"
		out["args"] = encode(given)
	}
	return out
}

// plainMembers are the members of "auth" that are not secret.
var plainMembers = []string{"type", "scopes", "redirectPort", "clientId", "clientMetadataUrl", "grantType"}

// hideTexts masks the strings and numbers in a value of any depth, except plainMembers and texts that only refer to
// variables.
func hideTexts(raw json.RawMessage) json.RawMessage {
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '{':
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) == nil {
			for name, v := range fields {
				if !slices.Contains(plainMembers, name) {
					fields[name] = hideTexts(v)
				}
			}
			return encode(fields)
		}
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil {
			for i, v := range items {
				items[i] = hideTexts(v)
			}
			return encode(items)
		}
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return encode(HideText(s))
		}
	case 't', 'f', 'n':
		return raw
	}
	return encode(hiddenText)
}

// reference matches a text that holds nothing but variables and the words around them in a header, such as
// "Bearer ${TOKEN}".
var reference = lazyregexp.New(`^((?:[A-Za-z0-9-]+: *)?(?:Bearer|Basic|token)? *)?(\$\{[^}]*\})+$`)

// HideText masks s unless every secret part of it comes from variables. In "Name: value" the name of the header
// stays.
func HideText(s string) string {
	switch name, _, isHeader := strings.Cut(s, ": "); {
	case s == "" || reference.MatchString(s) && !strings.Contains(s, ":-"):
		return s
	case isHeader:
		return name + ": " + hiddenText
	}
	return hiddenText
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("admin: settings do not encode: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}
