package firewall

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command.
type word struct {
	text  string
	fixed bool // the shell expands nothing in it
	globs bool // it is a pattern of file names
}

// special are the characters that may stand for something else in a word without quotes.
const special = "\\*?[{~"

// wordOf evaluates a word as far as that is possible without running anything.
func wordOf(w *syntax.Word) word {
	out := word{fixed: true}
	if w != nil && len(w.Parts) == 1 {
		if plain, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(plain.Value, special) {
			out.text = plain.Value
			return out
		}
	}
	var b strings.Builder
	if w != nil {
		out.appendParts(&b, w.Parts, false)
	}
	out.text = b.String()
	return out
}

func (w *word) appendParts(b *strings.Builder, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			w.appendLiteral(b, part.Value, quoted)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
			if part.Dollar && strings.Contains(part.Value, `\`) {
				w.fixed = false
			}
		case *syntax.DblQuoted:
			w.appendParts(b, part.Parts, true)
		case *syntax.ParamExp:
			if part.Param != nil && part.Param.Value == "HOME" && part.Exp == nil && part.Slice == nil && part.Repl == nil && !part.Excl && !part.Length {
				b.WriteString("~")
				continue
			}
			w.fixed = false
		default:
			w.fixed = false
		}
	}
}

// appendLiteral appends s as the shell reads it: as text without quotes or, if quoted is set, within double quotes, where a backslash escapes only some
// characters.
func (w *word) appendLiteral(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case quoted:
		case c == '*' || c == '?' || c == '[' && s != "[":
			w.globs = true
		case c == '{' && strings.ContainsAny(s[i:], ",.") && strings.Contains(s[i:], "}"):
			w.fixed = false
		case c == '~' && b.Len() == 0 && len(s) > 1 && s[1] != '/':
			w.fixed = false // ~user, the home of another user
		}
		b.WriteByte(s[i])
	}
}
