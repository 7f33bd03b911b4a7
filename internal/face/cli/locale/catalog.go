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

// Catalog has the texts of one language. A nil Catalog is English and returns what it is given.
type Catalog struct {
	texts    map[string]string // English to this language
	patterns func() []pattern  // texts with verbs, those with most letters first
}

// pattern is a format as it is found in a finished text.
type pattern struct {
	parts       []string // what stands between the verbs
	numbers     []bool   // which verbs show numbers
	letters     int      // in parts
	lines       bool     // it is more than one line, and what is filled in may be so too
	translation string   // each verb is %s or %[n]s
}

//go:embed zh.po
var zh string

var chinese = sync.OnceValue(func() *Catalog { return Parse(zh) })

// Parse reads a catalog in the form of gettext's PO files: msgid and msgstr, each with one or more strings in quotes.
// It panics where the text is not that, since catalogs are part of the program.
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
		said, err := strconv.Unquote(line)
		if err != nil {
			panic(fmt.Sprintf("catalog, line %d: %s", n+1, line))
		}
		*into += said
	}
	keep()
	c.patterns = sync.OnceValue(c.makePatterns)
	return c
}

// makePatterns is done for the first sentence that is not in the catalog as it stands: most commands say none.
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
			cmp.Compare(len(b.translation), len(a.translation)), // of two that differ in a mark, the one that has it
			strings.Compare(a.translation, b.translation),
		)
	})
	return out
}

// Get is a text in this language, or as it is given where the catalog does not have it.
func (c *Catalog) Get(english string) string {
	if c == nil {
		return english
	}
	if said, ok := c.texts[english]; ok {
		return said
	}
	return english
}

// Sentence translates a text whose verbs have been filled in: the format is found by what stands between its verbs, and
// what was filled in is translated likewise, but for a word alone: that is a name, which has to be found and typed as it
// is. What is not found is looked up in parts, as a semicolon or a colon divides them; a word before a colon is a name too.
func (c *Catalog) Sentence(english string) string {
	if c == nil || english == "" {
		return english
	}
	if said, ok := c.texts[english]; ok {
		return said
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
	for _, sep := range []struct{ here, there string }{{"\n", "\n"}, {"; ", "；"}, {": ", "："}} {
		if before, after, ok := strings.Cut(english, sep.here); ok {
			b, a := c.unlessName(before), c.Sentence(after)
			if b == before && a == after {
				return english
			}
			return b + sep.there + a
		}
	}
	return english
}

// unlessName is Sentence for what may be the name of something, such as a server called memory.
func (c *Catalog) unlessName(english string) string {
	if strings.Contains(english, " ") {
		return c.Sentence(english)
	}
	return english
}

// newPattern makes a pattern of a format that has words enough to be told by.
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

// match returns what stands in text where p has verbs.
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
			if part == "" { // verbs side by side: the first has it all
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

// fill is the translation with values in the places of its verbs.
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

// verbAt returns the verb of a format that text begins with, and its length; 0 where it begins with none.
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

// Texts are the texts of the catalog by the English ones.
func (c *Catalog) Texts() map[string]string { return c.texts }
