package locale

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// This file reads the catalog of translations, and translates finished sentences by recognizing their format.

// Catalog holds the translations into one language. A nil Catalog is English and returns every text
// unchanged.
type Catalog struct {
	texts    map[string]string // English text to translation
	patterns func() []pattern  // for texts with verbs such as %s, those with the most letters first
}

// pattern recognizes a format in a finished text.
type pattern struct {
	parts       []string // the text between the verbs
	numbers     []bool   // whether each verb shows a number
	letters     int      // number of letters in parts
	lines       bool     // the format, and so perhaps the values, has several lines
	translation string   // with each verb as %s or %[n]s
}

//go:embed zh.po
var zh string

var chinese = sync.OnceValue(func() *Catalog { return Parse(zh) })

// Parse parses a catalog in gettext's PO format: msgid and msgstr, each with one or more quoted strings. It
// panics on an error, because catalogs are part of the program.
func Parse(po string) *Catalog {
	c := &Catalog{texts: map[string]string{}}
	var id, str string
	into := &id
	keep := func() {
		if id != "" {
			c.texts[id] = str
		}
		id, str = "", ""
	}
	for n, line := range strings.Split(po, "\n") {
		line, begins := strings.CutPrefix(line, "msgid ")
		if begins {
			keep()
			into = &id
		} else if rest, ok := strings.CutPrefix(line, "msgstr "); ok {
			line, into = rest, &str
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		text, err := strconv.Unquote(line)
		if err != nil {
			panic(fmt.Sprintf("catalog, line %d: %s", n+1, line))
		}
		*into += text
	}
	keep()
	c.patterns = sync.OnceValue(c.makePatterns)
	return c
}

// makePatterns returns the patterns of all texts with verbs. It runs when the first sentence is not itself in the
// catalog, which most commands never print.
func (c *Catalog) makePatterns() []pattern {
	var out []pattern
	for english, translation := range c.texts {
		if p, ok := newPattern(english, translation); ok {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b pattern) int {
		return cmp.Or(
			cmp.Compare(b.letters, a.letters),
			cmp.Compare(len(b.translation), len(a.translation)), // if two differ only in punctuation, the longer one comes first
			strings.Compare(a.translation, b.translation),
		)
	})
	return out
}

// Get returns the translation of a text, or the text itself if there is none.
func (c *Catalog) Get(english string) string {
	if c == nil {
		return english
	}
	if translation, ok := c.texts[english]; ok {
		return translation
	}
	return english
}

// Sentence translates a finished text whose format had verbs. It finds the format by the text between the
// verbs, and translates the values too, except single words: those are names, which people must be able to
// look up and type. If no format matches, it translates the parts between semicolons or colons; a word before
// a colon counts as a name.
func (c *Catalog) Sentence(english string) string {
	if c == nil || english == "" {
		return english
	}
	if translation, ok := c.texts[english]; ok {
		return translation
	}
	patterns := c.patterns()
	for i := range patterns {
		p := &patterns[i]
		if values, ok := p.match(english); ok {
			for j, v := range values {
				values[j] = c.unlessName(v)
			}
			return p.fill(values)
		}
	}
	if translation, ok := c.count(english); ok {
		return translation
	}
	for _, sep := range []struct{ english, translated string }{{"\n", "\n"}, {"; ", "；"}, {": ", "："}} {
		if before, after, ok := strings.Cut(english, sep.english); ok {
			b, a := c.unlessName(before), c.Sentence(after)
			if b == before && a == after {
				return english
			}
			return b + sep.translated + a
		}
	}
	return english
}

// count translates a plural that [Count] has written, such as "3 servers", whose text in the catalog is "%d server".
func (c *Catalog) count(english string) (string, bool) {
	number, nouns, _ := strings.Cut(english, " ")
	n, err := strconv.Atoi(number)
	noun, several := strings.CutSuffix(nouns, "s")
	translation, ok := c.texts["%d "+noun]
	if err != nil || !several || !ok {
		return "", false
	}
	return fmt.Sprintf(translation, n), true
}

// unlessName is like Sentence, but leaves a single word alone: it may be a name, such as a server called memory.
func (c *Catalog) unlessName(english string) string {
	if strings.Contains(english, " ") {
		return c.Sentence(english)
	}
	return english
}

// newPattern returns the pattern of a format; ok is false if it has too few words to be recognized.
func newPattern(english, translation string) (pattern, bool) {
	var p pattern
	var part strings.Builder
	for rest := strings.TrimPrefix(english, "; "); rest != ""; {
		verb, n := verbAt(rest)
		switch {
		case n == 0:
			part.WriteByte(rest[0])
			rest = rest[1:]
			continue
		case verb == "%%":
			part.WriteByte('%')
		default:
			p.parts = append(p.parts, part.String())
			part.Reset()
			p.numbers = append(p.numbers, strings.HasSuffix(verb, "d"))
		}
		rest = rest[n:]
	}
	p.parts = append(p.parts, part.String())
	p.translation = translation
	if strings.HasPrefix(english, "; ") { // one of several clauses
		p.translation = strings.TrimPrefix(translation, "；")
	}
	p.lines = strings.Contains(strings.TrimRight(english, "\n"), "\n")
	for _, r := range strings.Join(p.parts, "") {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			p.letters++
		}
	}
	return p, len(p.parts) > 1 && p.letters >= 3
}

// match returns the parts of text at the places of p's verbs.
func (p *pattern) match(text string) (values []string, ok bool) {
	text, ok = strings.CutPrefix(text, p.parts[0])
	if !ok {
		return nil, false
	}
	for i, part := range p.parts[1:] {
		last := i == len(p.parts)-2
		switch {
		case last && strings.HasSuffix(text, part):
			values = append(values, strings.TrimSuffix(text, part))
			text = ""
		case last:
			return nil, false
		default:
			before, after, found := strings.Cut(text, part)
			if !found {
				return nil, false
			}
			if part == "" { // two verbs without text between them: the first gets everything
				before, after = text, ""
			}
			values = append(values, before)
			text = after
		}
	}
	for i, v := range values {
		if _, err := strconv.Atoi(v); p.numbers[i] && err != nil {
			return nil, false
		}
	}
	return values, p.lines || !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, "\n") })
}

// fill returns the translation with values in place of its verbs.
func (p *pattern) fill(values []string) string {
	var b strings.Builder
	next := 0
	for rest := p.translation; rest != ""; {
		verb, n := verbAt(rest)
		switch {
		case n == 0:
			b.WriteByte(rest[0])
			rest = rest[1:]
			continue
		case verb == "%%":
			b.WriteByte('%')
		default:
			if inner, ok := strings.CutPrefix(verb, "%["); ok {
				at, _, _ := strings.Cut(inner, "]")
				if i, err := strconv.Atoi(at); err == nil {
					next = i - 1
				}
			}
			if next < len(values) {
				b.WriteString(values[next])
			}
			next++
		}
		rest = rest[n:]
	}
	return b.String()
}

// verbAt returns the verb at the start of a format, and its length; 0 if there is none.
func verbAt(text string) (verb string, n int) {
	if text[0] != '%' {
		return "", 0
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '%' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			return text[:i+1], i + 1
		case !strings.ContainsRune("0123456789.-+#[] *", rune(c)) || c == ' ':
			return "", 0
		}
	}
	return "", 0
}

// Texts returns all translations by English text.
func (c *Catalog) Texts() map[string]string { return c.texts }
