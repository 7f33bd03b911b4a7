package firewall

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command.
type word struct {
	text   string
	fixed  bool // the shell expands nothing in it
	globs  bool // it is a pattern of file names
	option bool // what the shell expands in it may make an option of it
	splits bool // what the shell expands in it may be several words
	starts bool // it is a pattern of file names from its first character, so that a file's name may be an option
	single bool // it has one part
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
		out.single = len(w.Parts) == 1
		out.appendParts(&b, w.Parts, false)
	}
	out.text = b.String()
	out.starts = out.starts || out.globs && strings.HasPrefix(out.text, "-")
	return out
}

// mayBeBraces reports whether the text after an open brace may belong to a list or a range in braces. It may end in
// another part of the word.
func mayBeBraces(rest string) bool {
	end := strings.IndexByte(rest, '}')
	return end < 0 && rest != "" || end >= 0 && strings.ContainsAny(rest[:end], ",.")
}

func (w *word) appendParts(b *strings.Builder, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			w.appendLiteral(b, part.Value, quoted)
		case *syntax.SglQuoted:
			if part.Dollar && strings.Contains(part.Value, `\`) {
				w.expand(b, true)
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			w.appendParts(b, part.Parts, true)
		case *syntax.ParamExp:
			if part.Param != nil && part.Param.Value == "HOME" && b.Len() == 0 && part.Exp == nil && part.Slice == nil && part.Repl == nil && !part.Excl && !part.Length {
				b.WriteString("~")
				continue
			}
			if w.fixed = false; !isCount(part) {
				w.expand(b, quoted && !isList(part))
			}
		case *syntax.ArithmExp: // a number
			w.fixed = false
		default:
			w.expand(b, quoted)
		}
	}
}

// expand notes that something unknown follows what is in b. Without quotes it may be several words.
func (w *word) expand(b *strings.Builder, quoted bool) {
	w.fixed = false
	w.splits = w.splits || !quoted
	s := b.String()
	if !quoted || s == "" || s[0] == '-' && !(strings.HasPrefix(s, "--") && strings.Contains(s, "=")) { // not --date="$d"
		w.option = true
	}
}

// isList reports whether a parameter stands for several words even in quotes: "$@", "${a[@]}".
func isList(p *syntax.ParamExp) (list bool) {
	syntax.Walk(p, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok {
			index, _ := p.Index.(*syntax.Word)
			list = list || p.Param != nil && p.Param.Value == "@" || index != nil && index.Lit() != "" && strings.Contains("@*", index.Lit()) || p.Excl
		}
		return !list
	})
	return list
}

// isCount reports whether a parameter is a number that the shell sets: $?, $!, $# or $$.
func isCount(p *syntax.ParamExp) bool {
	return p.Param != nil && strings.Contains("? ! # $", p.Param.Value) && p.Exp == nil && p.Slice == nil && p.Repl == nil && !p.Excl && !p.Length
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
		case c == '*' || c == '?' || c == '[' && !(s == "[" && w.single):
			w.globs, w.starts = true, w.starts || b.Len() == 0
		case c == '{' && mayBeBraces(s[i+1:]):
			w.expand(b, true) // not into further words, but perhaps at the beginning
		case c == '~' && b.Len() == 0 && len(s) > 1 && s[1] != '/':
			w.fixed = false // ~user, the home of another user
		}
		b.WriteByte(s[i])
	}
}
