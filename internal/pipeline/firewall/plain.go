package firewall

import (
	"strings"
	"sync"
)

// This file finds out quickly that no rule names a path or a program, which is true of most.

// isPlainPath reports whether a path, or another word, consists only of letters, digits and a few other characters and
// no rule forbids it in any folder. It then needs no further check. Most words of commands are plain. Where an absolute
// path leads is another question.
func (j *judgement) isPlainPath(s string) bool {
	if len(j.folders) > 0 || len(j.policy.DenyPaths) > 0 || s == "" {
		return false
	}
	rules := builtinRules()
	var lower [64]byte
	start, dot := 0, -1
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '/' {
			c := nameBytes[s[i]]
			if c == 0 || i-start == len(lower) {
				return false
			}
			if c == '.' {
				dot = i
			}
			lower[i-start] = c
			continue
		}
		name := lower[:i-start]
		switch {
		case i == 0:
		case len(name) == 0 || name[0] == '.' || len(rules.byComponent[string(name)]) > 0:
			return false
		case i == len(s) && dot >= start && rules.endings[string(name[dot+1-start:])]:
			return false
		}
		start = i + 1
	}
	relative := strings.TrimPrefix(s, "/")
	for _, own := range j.policy.Own {
		if own = strings.TrimPrefix(own, "/"); strings.HasPrefix(relative, own) || strings.HasPrefix(own, relative) {
			return false
		}
	}
	return len(j.policy.ReadRoots)+len(j.policy.WriteRoots) == 0 || s[0] != '/'
}

// nameBytes are the bytes of plain names, in lower case.
var nameBytes = func() (plain [256]byte) {
	for i := range plain {
		switch c := byte(i); {
		case c >= 'A' && c <= 'Z':
			plain[i] = c | 0x20
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', strings.IndexByte("-_.+,%", c) >= 0:
			plain[i] = c
		}
	}
	return plain
}()

// addEnding notes the ending of the file names that pattern matches, such as pem for **/*.pem. The pattern has no literal
// component. It panics for a pattern that isPlainPath would miss.
func (r *pathRules) addEnding(pattern string) {
	name, ok := strings.CutPrefix(pattern, "**/")
	ending, isEnding := strings.CutPrefix(name, "*.")
	switch {
	case ok && isEnding && !strings.ContainsAny(ending, "*?/"):
		r.endings[strings.ToLower(ending)] = true
	case ok && strings.HasPrefix(name, "."), strings.Contains(pattern, ":"):
	default:
		panic("firewall: isPlainPath would miss " + pattern)
	}
}

// role says how the firewall knows a program.
type role uint8

const (
	harms       role = 1 << iota // harmOf knows it
	runsScripts                  // it takes a script as an argument
	interprets                   // it runs what it reads
	carries                      // it runs commands that it gets within other arguments
	embeds                       // judgeEmbedded knows it for another reason
)

// roleOf returns the roles of a program, 0 for one that no rule names.
func roleOf(name string) role {
	if name == "" || !mayBeNamed(name) {
		return 0
	}
	roles := namedPrograms()[name]
	if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		roles |= harms
	}
	if last := name[len(name)-1]; last >= '0' && last <= '9' || last == '.' {
		roles |= namedPrograms()[strings.TrimRight(name, "0123456789.")] & interprets // python3.12
	}
	return roles
}

// namedPrograms are the programs that rules name, with their roles.
var namedPrograms = sync.OnceValue(func() map[string]role {
	roles := map[string]role{}
	for of, list := range map[role]string{
		harms: harmful + " mkfs newfs ", runsScripts: scriptTakers, interprets: interpreters, carries: carriers,
		embeds: " eval rsh trap at alias env awk gawk mawk expect ",
	} {
		for name := range strings.FieldsSeq(list) {
			roles[name] |= of
		}
	}
	return roles
})

// mayBeNamed reports whether any of namedPrograms begins with the first two letters of name. It is false for most words, and
// quicker than a look into the map.
func mayBeNamed(name string) bool {
	if len(name) == 1 {
		return name == "."
	}
	return namedPairs()[uint16(name[0])<<8|uint16(name[1])]
}

var namedPairs = sync.OnceValue(func() *[1 << 16]bool {
	pairs := [1 << 16]bool{}
	for name := range namedPrograms() {
		if len(name) > 1 {
			pairs[uint16(name[0])<<8|uint16(name[1])] = true
		}
	}
	return &pairs
})
