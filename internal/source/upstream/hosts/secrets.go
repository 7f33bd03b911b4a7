package hosts

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
)

// This file replaces secrets in entries by references, so that they can be stored elsewhere.

// Hide returns a copy of e in which a reference ${secret:NAME} replaces each secret that it holds as text. A text is
// a secret because of its place, or because looks says so for a single word. name is called for each secret in a
// fixed order and returns NAME; suggested is made from the server's name and the place.
func (e Entry) Hide(server string, looks func(word string) bool, name func(suggested, secret string) string) Entry {
	e = e.clone()
	h := &secretHider{server: server, looksSecret: looks, name: name, preferred: e.preferred}
	if args, ok := e.values["args"].([]string); ok {
		e.values["args"] = h.args(args)
	}
	for _, field := range []string{"env", "headers"} {
		if all, ok := e.values[field].(map[string]*string); ok {
			e.values[field] = h.hideDict(all)
		}
	}
	if address, ok := e.values["url"].(string); ok {
		e.values["url"] = h.address(address)
	}
	for _, field := range []string{"auth.token", "auth.password", "auth.clientSecret"} {
		if s, ok := e.values[field].(string); ok {
			e.values[field] = h.hideText(field[len("auth."):], s)
		}
	}
	return e
}

// Secrets returns the names that Hide would suggest for the secrets in e, in a fixed order.
func (e Entry) Secrets(server string, looks func(string) bool) []string {
	var list []string
	e.Hide(server, looks, func(suggested, _ string) string {
		if !contains(list, suggested) {
			list = append(list, suggested)
		}
		return suggested
	})
	return list
}

type secretHider struct {
	server      string
	looksSecret func(string) bool
	name        func(suggested, secret string) string
	preferred   map[string]string
}

// reference returns the reference that replaces a secret found at a place.
func (h *secretHider) reference(place, secret string) string {
	suggested, ok := h.preferred[secret]
	if !ok {
		suggested = h.suggest(place)
	}
	return "${secret:" + h.name(suggested, secret) + "}"
}

var unfitUpper = lazyregexp.New(`[^A-Z0-9]+`)

// suggest joins the server's name and a place: NOTES_TOKEN for notes and token, GITHUB_TOKEN for github and
// GITHUB_TOKEN.
func (h *secretHider) suggest(place string) string {
	upper := func(s string) string { return strings.Trim(unfitUpper.ReplaceAllString(strings.ToUpper(s), "_"), "_") }
	server, name := upper(h.server), upper(place)
	switch {
	case name == "":
		name = "SECRET"
	case server == "" || name == server || strings.HasPrefix(name, server+"_"):
		return name
	}
	return strings.TrimPrefix(server+"_"+name, "_")
}

// hideText hides all of a text, unless it contains a variable or is empty.
func (h *secretHider) hideText(place, s string) string {
	ps := split(s)
	if len(ps) != 1 || ps[0].ref != "" {
		return h.hideWords(place, s)
	}
	return h.reference(place, ps[0].text)
}

var word = lazyregexp.New("[^\\s=,;:\"'`(){}<>|\\[\\]]+")

// hideWords hides the words of a text that look like secrets.
func (h *secretHider) hideWords(place, s string) string {
	var b strings.Builder
	found := false
	for _, p := range split(s) {
		if p.ref != "" {
			b.WriteString("${" + p.ref + "}")
			continue
		}
		at := 0
		for _, loc := range word.FindAllStringIndex(p.text, -1) {
			w := p.text[loc[0]:loc[1]]
			if _, known := h.preferred[w]; known || h.looksSecret(w) {
				b.WriteString(escape(p.text[at:loc[0]]) + h.reference(place, w))
				at, found = loc[1], true
			}
		}
		b.WriteString(escape(p.text[at:]))
	}
	if !found {
		return s
	}
	return b.String()
}

func (h *secretHider) hideDict(all map[string]*string) map[string]*string {
	out := maps.Clone(all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == nil {
			continue
		}
		s := h.hideNamed(name, *all[name])
		out[name] = &s
	}
	return out
}

var scheme = lazyregexp.New(`(?i)^((?:bearer|basic|token|apikey) +)(\S+)$`)

// hideNamed hides the value of a variable or a header with that name.
func (h *secretHider) hideNamed(name, s string) string {
	if m := scheme.FindStringSubmatch(s); m != nil && isSecretName(name) {
		return m[1] + h.hideText(name, m[2])
	}
	if isSecretName(name) && isWorthy(s) {
		return h.hideText(name, s)
	}
	if strings.Contains(s, "://") {
		return h.address(s)
	}
	return h.hideWords(name, s)
}

func (h *secretHider) args(args []string) []string {
	out := slices.Clone(args)
	for i, s := range args {
		flag, value, assigned := strings.Cut(s, "=")
		switch {
		case i > 0 && isFlag(args[i-1]) && isSecretName(args[i-1]) && isWorthy(s) && !isFlag(s):
			out[i] = h.hideText(args[i-1], s)
		case assigned && isSecretName(flag) && isWorthy(value):
			out[i] = flag + "=" + h.hideText(flag, value)
		case strings.Contains(s, "://"):
			out[i] = h.address(s)
		default:
			out[i] = h.hideWords("argument", s)
		}
	}
	return out
}

func isFlag(s string) bool { return strings.HasPrefix(s, "-") }

var (
	password  = lazyregexp.New(`^([A-Za-z][A-Za-z0-9+.-]*://[^/?#@:]*:)([^/?#@]+)@`)
	parameter = lazyregexp.New(`([?&])([^=&#]+)=([^&#]+)`)
	segment   = lazyregexp.New(`[^/?#]+`)
)

// address hides the password of a URL, and parameters and path elements that are secret.
func (h *secretHider) address(s string) string {
	s = replaceMatches(password, s, func(m []string) string { return m[1] + h.hideText("password", m[2]) + "@" })
	path, query, asked := strings.Cut(s, "?")
	path = segment.ReplaceAllStringFunc(path, func(part string) string {
		if h.looksSecret(part) {
			return h.reference("url", part)
		}
		return part
	})
	if !asked {
		return path
	}
	return path + replaceMatches(parameter, "?"+query, func(m []string) string {
		if isSecretName(m[2]) && isWorthy(m[3]) || h.looksSecret(m[3]) {
			return m[1] + m[2] + "=" + h.hideText(m[2], m[3])
		}
		return m[0]
	})
}

// replaceMatches is like ReplaceAllStringFunc but passes the groups of each match.
func replaceMatches(re *lazyregexp.Regexp, s string, f func(match []string) string) string {
	return re.ReplaceAllStringFunc(s, func(m string) string { return f(re.FindStringSubmatch(m)) })
}

var (
	camelHump  = lazyregexp.New(`([a-z])([A-Z])`)
	secretName = lazyregexp.New(`(?i)(^|[_.-])(api[_-]?key|access[_-]?key|key|token|secret|password|passwd|pwd|pass|auth|authorization|credentials?|pat)$`)
)

// isSecretName reports whether a value with that name is secret.
func isSecretName(name string) bool {
	return secretName.MatchString(camelHump.ReplaceAllString(strings.TrimLeft(name, "-"), "${1}_${2}"))
}

// isWorthy reports whether s can be a secret at all: switches such as "true", and paths, are not.
func isWorthy(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "none", "null", "yes", "no", "on", "off", "auto":
		return false
	}
	return !isAbs(s) && !strings.HasPrefix(s, "~/") && !strings.HasPrefix(s, "./")
}

var secretReference = lazyregexp.New(`\$\{secret:[^}"\\]*\}`)

// maskSecrets removes the names from the secret references of an entry, to compare entries.
func maskSecrets(raw json.RawMessage) json.RawMessage {
	return secretReference.ReplaceAll(raw, []byte("$${secret:}"))
}
