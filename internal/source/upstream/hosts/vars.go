package hosts

import (
	"path/filepath"
	"regexp"
	"strings"

	"collie/internal/lazyregexp"
)

// This file converts variables in texts between the forms of programs.

// syntax is how a host writes variables. The zero value is a host without variables.
type syntax struct {
	// find matches one reference to a variable; nil if the host has none.
	find *lazyregexp.Regexp
	// read converts a match, given with its groups, to our syntax.
	read func(r *hostReading, match []string) string
	// write converts one of our variables to the host's syntax; false if the host has no equivalent.
	write func(variable) (string, bool)
}

// piece is a part of one of our texts: ref is the content of ${…}; without a ref, text is literal.
type piece struct{ text, ref string }

// split splits one of our texts into pieces. An unclosed ${ is literal.
func split(s string) []piece {
	var list []piece
	literal := ""
	flush := func() {
		if literal != "" {
			list = append(list, piece{text: literal})
		}
		literal = ""
	}
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			literal += s
			flush()
			return list
		}
		if i > 0 && s[i-1] == '$' {
			literal += s[:i-1] + "${"
			s = s[i+2:]
			continue
		}
		ref, rest, closed := strings.Cut(s[i+2:], "}")
		if !closed || ref == "" {
			literal += s[:i+2]
			s = s[i+2:]
			continue
		}
		literal += s[:i]
		flush()
		list, s = append(list, piece{ref: ref}), rest
	}
}

// escape keeps a literal text from being read as a variable.
func escape(literal string) string { return strings.ReplaceAll(literal, "${", "$${") }

// variable is one of our variables. One of name, secret, input and place is set, or none if it cannot be read.
type variable struct {
	name      string // name of an environment variable
	fallback  string
	defaulted bool

	secret, input, place string
}

func parseVariable(ref string) variable {
	switch ref {
	case "workspaceFolder", "configDir", "userHome", "pathSeparator", "/":
		return variable{place: ref}
	}
	if name, ok := strings.CutPrefix(ref, "secret:"); ok {
		return variable{secret: name}
	}
	if id, ok := strings.CutPrefix(ref, "input:"); ok {
		return variable{input: id}
	}
	name, fallback, defaulted := strings.Cut(strings.TrimPrefix(ref, "env:"), ":-")
	if !isName(name) {
		return variable{}
	}
	return variable{name: name, fallback: fallback, defaulted: defaulted}
}

// suffix returns ":-text" if there is a default.
func (v variable) suffix() string {
	if v.defaulted {
		return ":-" + v.fallback
	}
	return ""
}

// canonicalText returns one of our texts in a canonical form, for comparison.
func canonicalText(s string) string {
	var b strings.Builder
	for _, p := range split(s) {
		if p.ref == "" {
			b.WriteString(escape(p.text))
		} else {
			b.WriteString("${" + strings.TrimPrefix(p.ref, "env:") + "}")
		}
	}
	return b.String()
}

var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_()]*$`)

func isName(s string) bool { return envName.MatchString(s) }

// inBraces matches any ${…}.
var inBraces = lazyregexp.New(`\$\{([^{}]*)\}`)

// envBraces is the syntax ${env:NAME}, with places such as ${userHome}.
var envBraces = syntax{find: inBraces, read: readBraces, write: func(v variable) (string, bool) {
	switch {
	case v.name != "" && !v.defaulted:
		return "${env:" + v.name + "}", true
	case v.place != "":
		return "${" + v.place + "}", true
	}
	return "", false
}}

// inputBraces is envBraces with ${input:id}, a value for which the user is asked once.
var inputBraces = syntax{find: inBraces, read: readBraces, write: func(v variable) (string, bool) {
	switch id := v.input + v.secret; {
	case id != "":
		return "${input:" + id + "}", true
	default:
		return envBraces.write(v)
	}
}}

func readBraces(r *hostReading, m []string) string {
	ref := m[1]
	name, env := strings.CutPrefix(ref, "env:")
	switch {
	case isName(name) && env:
		return "${" + name + "}"
	case ref == "workspaceFolder" || ref == "workspaceRoot":
		return r.workspace()
	case ref == "userHome" || ref == "pathSeparator" || ref == "/":
		return m[0]
	case strings.HasPrefix(ref, "input:") && len(ref) > len("input:"):
		r.addNote("%s: give its value in %s, or keep it in the secret store as %q", m[0], askedIn(ref[6:]), ref)
		return m[0]
	case isName(ref):
		r.addNote("%s: here it is a variable of the environment", m[0])
		return m[0]
	}
	return r.toInput(m[0], ref)
}

// toInput replaces a reference that means nothing outside its host by an input: a user has to supply its value, and
// until then the server does not start.
func (r *hostReading) toInput(written, ref string) string {
	id := strings.Trim(unfitChars.ReplaceAllString(ref, "-"), "-")
	if id == "" {
		return escape(written)
	}
	r.addNote("%s: not known here; give its value in %s", written, askedIn(id))
	return "${input:" + id + "}"
}

var unfitChars = lazyregexp.New(`[^A-Za-z0-9_-]+`)

// askedIn returns the environment variable from which the value of an input is read.
func askedIn(id string) string {
	return "COLLIE_INPUT_" + regexp.MustCompile(`[^A-Z0-9]`).ReplaceAllString(strings.ToUpper(id), "_")
}

// text converts a text of the host to our syntax.
func (r *hostReading) text(s string) string {
	if r.host.isOurs() {
		return canonicalText(s)
	}
	find := r.host.vars.find
	if find == nil {
		if inBraces.MatchString(s) {
			r.addNote("%s takes ${…} as it is written, and so it stays: $${…}", r.host.Title)
		}
		return escape(s)
	}
	var b strings.Builder
	at := 0
	for _, loc := range find.FindAllStringSubmatchIndex(s, -1) {
		literal := escape(s[at:loc[0]])
		match := make([]string, len(loc)/2)
		for i := range match {
			if loc[2*i] >= 0 {
				match[i] = s[loc[2*i]:loc[2*i+1]]
			}
		}
		ours := r.host.vars.read(r, match)
		if strings.HasSuffix(literal, "$") && strings.HasPrefix(ours, "${") {
			r.addNote("a $ before %s cannot be written here and is left out", match[0])
			literal = strings.TrimRight(literal, "$")
		}
		b.WriteString(literal + ours)
		at = loc[1]
	}
	return b.String() + escape(s[at:])
}

// text converts one of our texts to the host's syntax. Variables that the host does not know stay in our syntax;
// their values are never written.
func (w *hostWriting) text(s string) string {
	var b strings.Builder
	for _, p := range split(s) {
		if p.ref == "" {
			b.WriteString(p.text)
			continue
		}
		b.WriteString(w.variable(p.ref))
	}
	return b.String()
}

func (w *hostWriting) variable(ref string) string {
	v := parseVariable(ref)
	if v.place == "workspaceFolder" || v.place == "configDir" {
		if w.dir != "" {
			return w.dir
		}
	}
	if w.host.vars.write == nil && (v.place == "pathSeparator" || v.place == "/") {
		return string(filepath.Separator)
	}
	if w.host.vars.write != nil {
		if s, ok := w.host.vars.write(v); ok {
			if v.secret != "" {
				w.addNote("${secret:%s}: %s asks for it once; declare the input %q", v.secret, w.host.Title, v.secret)
			}
			return s
		}
		if v.defaulted {
			if s, ok := w.host.vars.write(variable{name: v.name}); ok {
				w.addNote("${%s}: %s knows no default; set %s", ref, w.host.Title, v.name)
				return s
			}
		}
	}
	w.addNote("${%s}: %s has no such variable; write the value there", ref, w.host.Title)
	return "${" + ref + "}"
}
