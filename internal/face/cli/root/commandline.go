package root

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/arguments"
	"collie/internal/face/cli/output"
	"collie/internal/lazyregexp"
)

// This file rewrites calls in help texts, such as fs(action="ls"), as command lines.

// callPattern matches the beginning of a call in the notation for models.
var callPattern = lazyregexp.New(`\b([a-z]+)\(action="([a-z_]+)"`)

// argumentPattern matches the next argument of such a call, up to its value.
var argumentPattern = lazyregexp.New(`^\s*,\s*([A-Za-z_]\w*)\s*=\s*`)

// pagePattern matches the URI of a help page.
var pagePattern = lazyregexp.New(`siyuan://help/(?:action/)?([a-z]+)/([a-z_]+)`)

// WithCommandLines rewrites the calls in one of our own texts as a person types them: fs(action="ls", path="/")
// becomes collie fs ls --path /. Calls that it does not understand stay as they are.
func WithCommandLines(text string) string {
	var b strings.Builder
	for {
		at := callPattern.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		name, action := text[at[2]:at[3]], text[at[4]:at[5]]
		line, rest, ok := commandLine(name, action, text[at[1]:])
		if !ok {
			b.WriteString(text[:at[1]])
			text = text[at[1]:]
			continue
		}
		b.WriteString(text[:at[0]] + line)
		text = rest
	}
	b.WriteString(text)
	return pagePattern.ReplaceAllStringFunc(b.String(), func(uri string) string {
		m := pagePattern.FindStringSubmatch(uri)
		if _, ours := app.NotesTool(m[1]); !ours {
			return uri
		}
		return "collie tools " + m[1] + " " + m[2]
	})
}

// commandLine returns a call as a command line; rest is the text after its closing bracket. ok is false if name is not one
// of our tools or the arguments cannot be read.
func commandLine(name, action, arguments string) (line, rest string, ok bool) {
	if _, ours := app.NotesTool(name); !ours {
		return "", "", false
	}
	line = "collie " + name + " " + action
	for {
		m := argumentPattern.FindStringSubmatchIndex(arguments)
		if m == nil {
			break
		}
		key := arguments[m[2]:m[3]]
		value, behind := parseValue(arguments[m[1]:])
		if behind == arguments[m[1]:] {
			return "", "", false
		}
		if arguments = behind; action == "help" && key == "topic" {
			line = "collie tools " + name + " " + value.String()
			continue
		}
		line += flagOf(key, value)
	}
	if behind, closed := strings.CutPrefix(strings.TrimLeft(arguments, " "), ")"); closed {
		return strings.Replace(line, "collie "+name+" help", "collie tools "+name, 1), behind, true
	}
	return "", "", false
}

// parseValue parses a value at the start of text: JSON, or anything up to a comma or bracket. If there is no value,
// rest is text.
func parseValue(text string) (v gjson.Result, rest string) {
	d := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if d.Decode(&raw) == nil {
		return gjson.ParseBytes(raw), text[d.InputOffset():]
	}
	n := strings.IndexAny(text, ",)")
	if n < 0 {
		return gjson.Result{}, text
	}
	return gjson.Result{Type: gjson.String, Str: strings.TrimSpace(text[:n])}, text[n:]
}

// flagOf returns the argument as a flag with its value, with a space before it.
func flagOf(key string, v gjson.Result) string {
	flag := " --" + arguments.Kebab(key)
	switch v.Type {
	case gjson.True:
		return flag
	case gjson.False:
		return " --no-" + arguments.Kebab(key)
	case gjson.JSON:
		return flag + "-json " + output.ShellQuote(v.Raw)
	}
	return flag + " " + output.ShellQuote(v.String())
}
