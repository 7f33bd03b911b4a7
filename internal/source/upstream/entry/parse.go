package entry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// This file reads one entry of the settings.

// Options are the inputs of [Parse] besides the entry.
type Options struct {
	// Dir is the absolute folder of the file with the entry: the default working folder, and the base of relative
	// paths.
	Dir string
	// Workspace replaces ${workspaceFolder}; empty means Dir.
	Workspace string
	// Env looks up a variable of our environment; nil means an empty environment.
	Env func(name string) (string, bool)
	// Secret looks up the secret store, with inputs under "input:<id>"; nil means no store.
	Secret func(name string) (string, bool)
	// Input answers an ${input:id} that is in neither the store nor COLLIE_INPUT_<ID>: with the default in its file,
	// or by asking a person. Nil answers none.
	Input func(id string) (string, bool)
	// ReadFile reads an envFile; nil refuses envFile.
	ReadFile func(path string) ([]byte, error)
	// ToolTimeout and MaxToolTimeout are the default limits of a call; zero means 60 s and 10 min.
	ToolTimeout, MaxToolTimeout time.Duration
	// Cache is the default of Entry.Cache; nil means the defaults given at that type.
	Cache *Cache
}

// Parse reads one entry, standard JSON, of the server with that name. It returns what could be read, even if there
// are errors; the entry is usable if no problem has severity error. The order of problems is fixed, with errors and
// warnings mixed.
func Parse(name string, raw json.RawMessage, o Options) (Entry, []Problem) {
	p := &parser{Options: o, secrets: map[string]bool{}, entry: defaultEntry(name, o)}
	fields, ok := decode[map[string]json.RawMessage](p, "", raw, "an object with a command or a url")
	if !ok {
		return p.entry, p.problems
	}
	root := &object{parser: p, fields: fields, used: map[string]bool{}}
	root.readProcess()
	root.readRemote()
	root.chooseTransport()
	root.readBehaviour()
	root.readTools()
	root.warnUnused()
	root.warnUnread()
	p.entry.Secrets = slices.SortedFunc(maps.Keys(p.secrets), func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return p.entry, p.problems
}

// defaultEntry returns the entry of a server for which nothing is set.
func defaultEntry(name string, o Options) Entry {
	e := Entry{
		Name: name, Transport: Stdio, Protocol: "auto",
		InheritEnv: inherit{Mode: "minimal"}, Dir: o.Dir, DockerManaged: true,
		Lifecycle: Auto, IdleTimeout: 10 * time.Minute,
		ToolTimeout: o.ToolTimeout, MaxToolTimeout: o.MaxToolTimeout,
		Prefix:   name + "__",
		Restart:  Restart{Max: 5, Window: 10 * time.Minute, Base: time.Second, Cap: 5 * time.Minute},
		Health:   Health{Failures: 3},
		Cache:    Cache{Enabled: true, MaxAge: 24 * time.Hour, MaxStale: 30 * 24 * time.Hour},
		Sampling: Forward, Elicitation: Forward, Isolation: shared, Trust: trustWarn,
	}
	if e.ToolTimeout == 0 {
		e.ToolTimeout = time.Minute
	}
	if e.MaxToolTimeout == 0 {
		e.MaxToolTimeout = 10 * time.Minute
	}
	if o.Cache != nil {
		e.Cache = *o.Cache
	}
	return e
}

// parser is the state of one run of Parse.
type parser struct {
	Options
	entry    Entry
	problems []Problem
	secrets  map[string]bool
}

func (p *parser) report(s severity, pointer, rule, format string, args ...any) {
	p.problems = append(p.problems, Problem{pointer, rule, s, fmt.Sprintf(format, args...)})
}

func (p *parser) fail(pointer, rule, format string, args ...any) {
	p.report(SeverityError, pointer, rule, format, args...)
}

func (p *parser) warn(pointer, rule, format string, args ...any) {
	p.report(severityWarning, pointer, rule, format, args...)
}

// expand expands the variables of a text. Every value of a variable is then masked in logs, since nobody knows what
// people keep in their environment.
func (p *parser) expand(pointer, s string) ([]piece, bool) {
	ps, err := expand(s, p.resolve)
	if unset, ok := errors.AsType[*unsetError](err); ok {
		p.fail(pointer, RuleUnset, "%s", unset)
		return nil, false
	}
	if err != nil {
		p.fail(pointer, ruleVariable, "%v", err)
		return nil, false
	}
	for _, piece := range ps {
		switch piece.origin {
		case variable:
			p.maskInLogs(piece.text)
		case secret:
			p.secrets[piece.text] = true
		case literal, place:
		}
	}
	return ps, true
}

// shortestMasked is the length in bytes from which values are masked in logs. Masking shorter ones would make logs
// unreadable.
const shortestMasked = 8

// maskInLogs marks a value to be masked in logs, unless it is too short.
func (p *parser) maskInLogs(s string) {
	if len(s) >= shortestMasked {
		p.secrets[s] = true
	}
}

// shownValue reads a text whose unexpanded form may be shown.
func (p *parser) shownValue(pointer, s string) Value {
	ps, ok := p.expand(pointer, s)
	if !ok {
		return Value{"", s}
	}
	return Value{joinPieces(ps), s}
}

// hiddenValue reads a text that may not be shown in any form.
func (p *parser) hiddenValue(pointer, s string) Value {
	v := p.shownValue(pointer, s)
	p.maskInLogs(v.text)
	return maskedValue(v.text)
}

// absolutePath reads the path of a file or folder; a relative one is relative to Dir.
func (p *parser) absolutePath(pointer, s string) string {
	v := p.shownValue(pointer, s).text
	if v == "" || filepath.IsAbs(v) {
		return v
	}
	return filepath.Join(p.Dir, v)
}

// decode reads raw as a T. want describes a T to users, such as "a string".
func decode[T any](p *parser, pointer string, raw json.RawMessage, want string) (T, bool) {
	var v T
	err := json.Unmarshal(raw, &v)
	if err != nil || string(raw) == "null" {
		p.fail(pointer, "type", "expected %s, got %s", want, jsonKind(raw))
		return v, false
	}
	return v, true
}

// jsonKind returns the kind of a JSON value, as errors name it.
func jsonKind(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// nameChars are what names of servers and prefixes may have. Names are checked without regular expressions, because all are
// at each start, and an expression costs more to compile than all its checks.
const nameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// consistsOf reports whether s has only ASCII characters of chars.
func consistsOf(s, chars string) bool { return strings.Trim(s, chars) == "" }

// validName reports whether s can be the name of a server.
func validName(s string) bool { return s != "" && len(s) <= 64 && consistsOf(s, nameChars) }

// CheckNames returns the problems of server names, by name; nil if there are none. reserved are names that other
// sources use. Of two names that differ only by case, the later one is invalid.
func CheckNames(names, reserved []string) map[string]Problem {
	var found map[string]Problem
	report := func(name, format string, args ...any) {
		if found == nil {
			found = map[string]Problem{}
		}
		found[name] = Problem{Rule: ruleName, Severity: SeverityError, Message: fmt.Sprintf(format, args...)}
	}
	taken, seen := map[string]bool{}, map[string]string{}
	for _, r := range reserved {
		taken[strings.ToLower(r)] = true
	}
	for _, n := range names {
		low := strings.ToLower(n)
		switch first, twice := seen[low]; {
		case !validName(n):
			report(n, "%q is not a name for a server; use 1 to 64 of A-Z a-z 0-9 _ -", n)
		case taken[low]:
			report(n, "the name %q is Collie's own; choose another", n)
		case twice && first != n:
			report(n, "the names %q and %q differ only by case; rename one", first, n)
		}
		if _, ok := seen[low]; !ok {
			seen[low] = n
		}
	}
	return found
}
