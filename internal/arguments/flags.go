// Package arguments maps the words of a command line to the arguments of an action, in a terminal as in a conversation:
// --flag value, --flag=value, values without a flag, and values from a file or stdin. The action's schema decides which
// are valid. The entry point is [Reader].
package arguments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"collie/internal/rawjson"
	"collie/internal/tool"
)

// Reader maps the words of one command line to the arguments of one action. Each optional function that is nil switches
// off what it is for.
type Reader struct {
	Command string // "collie TOOL ACTION", for messages
	Params  []Parameter
	// Positional are the parameters that take values without a flag, in order.
	Positional []string
	Globals    func(name string) bool               // reports whether name is a flag of the command line itself
	File       func(name string) ([]byte, error)    // reads @NAME; nil means that there are no files
	Stdin      func() ([]byte, error)               // reads -; nil means that there is no input
	Sprintf    func(format string, a ...any) string // formats messages in the user's language; nil means English

	given      map[string]*givenValue // by name of the parameter
	values     []string               // values without a flag
	dashesRead bool                   // "--" was read: all flags behind it belong to the action, even if Globals has them
}

// Error is a mistake in the words of a command line.
type Error struct{ message string }

// Error says what is wrong and what was expected.
func (e *Error) Error() string { return e.message }

// usage returns an [*Error] with a message in the user's language.
func (f *Reader) usage(format string, a ...any) error { return &Error{f.sprintf(format, a...)} }

func (f *Reader) sprintf(format string, a ...any) string {
	if f.Sprintf != nil {
		return f.Sprintf(format, a...)
	}
	return fmt.Sprintf(format, a...)
}

// didYouMean returns a question to end an error with, or "" if no known name is close.
func (f *Reader) didYouMean(name string, known []string) string {
	if near, ok := tool.Nearest(name, known); ok {
		return f.sprintf("; did you mean %s?", near)
	}
	return ""
}

// givenValue is the value that the command line gives one parameter.
type givenValue struct {
	items []json.RawMessage // the values in order; exactly one unless the parameter is an array
	json  json.RawMessage   // from --key-json; overrides items
}

// flagSpelling is a parsed flag name.
type flagSpelling struct {
	param  *Parameter
	json   bool // --key-json
	negate bool // --no-key
}

// Read maps tokens to arguments. start, a JSON object or nil, holds values from elsewhere: a flag replaces the member
// of its name, also inside an argument that is an object, and the others are appended in the order of the schema. Errors
// are [*Error].
func (f *Reader) Read(tokens []string, start json.RawMessage) (json.RawMessage, error) {
	f.given, f.values, f.dashesRead = map[string]*givenValue{}, nil, false
	for _, t := range tokens {
		if !utf8.ValidString(t) {
			return nil, f.usage("the argument %q is not UTF-8 text", t)
		}
	}
	for len(tokens) > 0 {
		rest, err := f.readFlag(tokens)
		if err != nil {
			return nil, err
		}
		tokens = rest
	}
	if err := f.assignPositional(start); err != nil {
		return nil, err
	}
	return f.assemble(start)
}

// readFlag reads the flag that tokens begin with and returns what follows it. A boolean takes the next token only if that
// is "true" or "false".
func (f *Reader) readFlag(tokens []string) (rest []string, err error) {
	token, rest := tokens[0], tokens[1:]
	if token == "--" {
		f.dashesRead = true
		return rest, nil
	}
	name, ok := strings.CutPrefix(token, "--")
	if (token == "-" || !strings.HasPrefix(token, "-")) && len(f.Positional) > 0 {
		f.values = append(f.values, token)
		return rest, nil
	}
	if !ok || name == "" {
		return nil, f.usage("unexpected argument %q; %s takes flags only, see %s --help", token, f.Command, f.Command)
	}
	name, value, inline := strings.Cut(name, "=")
	s, err := f.parseName(name)
	if err != nil {
		return nil, err
	}
	if s.param.Is("boolean") && !s.json {
		if !inline && !s.negate && len(rest) > 0 && (rest[0] == "true" || rest[0] == "false") {
			value, rest, inline = rest[0], rest[1:], true
		}
		return rest, f.setBool(s, name, value, inline)
	}
	if !inline {
		if len(rest) == 0 || rest[0] == "--" || f.isFlag(rest[0]) {
			return nil, f.usage("--%s needs a value: %s", name, f.valueForm(s.param))
		}
		value, rest = rest[0], rest[1:]
	}
	if s.json {
		return rest, f.setJSON(s.param, name, value)
	}
	return rest, f.set(s.param, name, value)
}

// parseName resolves the name of a flag: a parameter by its exact name, else by another spelling, else with the prefix
// no- or the suffix -json.
func (f *Reader) parseName(name string) (flagSpelling, error) {
	if p, err := f.Param(name); p != nil || err != nil {
		return flagSpelling{param: p}, err
	}
	low := strings.ToLower(name)
	if strings.HasSuffix(low, "-json") {
		if p, err := f.Param(name[:len(name)-len("-json")]); p != nil || err != nil {
			return flagSpelling{param: p, json: true}, err
		}
	}
	if strings.HasPrefix(low, "no-") {
		if p, err := f.Param(name[len("no-"):]); err != nil || p != nil && p.Is("boolean") {
			return flagSpelling{param: p, negate: true}, err
		}
	}
	return flagSpelling{}, f.unknownFlag(name)
}

// Param returns the parameter with that name or a spelling of it; nil if there is none.
func (f *Reader) Param(name string) (*Parameter, error) {
	var matches []*Parameter
	for i := range f.Params {
		p := &f.Params[i]
		if p.Name == name {
			return p, nil
		}
		if want := Normalize(name); want != "" && p.isNamed(want) {
			matches = append(matches, p)
		}
	}
	switch len(matches) {
	case 0:
		return nil, nil //nolint:nilnil // the documented answer for none
	case 1:
		return matches[0], nil
	}
	names := make([]string, len(matches))
	for i, p := range matches {
		names[i] = "--" + p.Flag
	}
	return nil, f.usage("--%s may mean %s; write one of them exactly", name, strings.Join(names, " or "))
}

// unknownFlag returns the error for a flag that the action does not have.
func (f *Reader) unknownFlag(name string) error {
	if len(f.Params) == 0 {
		return f.usage("unknown flag --%s: %s has no flags; --args '{…}' passes what its schema does not name", name, f.Command)
	}
	flags := make([]string, len(f.Params))
	for i := range f.Params {
		flags[i] = f.Params[i].Flag
	}
	msg := f.sprintf("unknown flag --%s", name)
	if near := f.didYouMean("--"+name, withPrefix("--", flags)); near != "" {
		msg += near
	}
	return f.usage("%s\n  flags of %s: %s", msg, f.Command, strings.Join(withPrefix("--", flags), ", "))
}

func withPrefix(prefix string, list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = prefix + s
	}
	return out
}

// isFlag reports whether a token can only be a flag, of the command line or of the action, and not a value.
func (f *Reader) isFlag(token string) bool {
	name, ok := strings.CutPrefix(token, "--")
	if !ok || name == "" {
		return false
	}
	name, _, _ = strings.Cut(name, "=")
	if !f.dashesRead && f.Globals != nil && f.Globals(name) {
		return true
	}
	s, err := f.parseName(name)
	return err == nil && s.param != nil
}

// assemble returns start with the values of the flags put in.
func (f *Reader) assemble(start json.RawMessage) (json.RawMessage, error) {
	if len(f.given) == 0 && start != nil {
		return start, nil
	}
	out := rawjson.Object{}
	written := map[string]bool{}
	var problem error
	put := func(name string, key, value json.RawMessage) {
		written[name] = true
		value, err := f.argument(name, value)
		if err != nil && problem == nil {
			problem = err
		}
		out.Add(key, value)
	}
	rawjson.EachMember(start, func(name string, key, value json.RawMessage) {
		if repeated := written[name]; repeated && f.hasFlags(name) {
			return
		}
		put(name, key, value)
	})
	for i := range f.Params {
		p := &f.Params[i]
		name := cmp.Or(p.Parent, p.Name)
		if f.given[p.Name] != nil && !written[name] {
			put(name, rawjson.Quote(name), nil)
		}
	}
	return out.Bytes(), problem
}

// hasFlags reports whether a flag sets the argument with that name, or a member of it.
func (f *Reader) hasFlags(name string) bool {
	return slices.ContainsFunc(f.Params, func(p Parameter) bool { return f.given[p.Name] != nil && cmp.Or(p.Parent, p.Name) == name })
}

// argument returns the value of an argument: that of its own flag if there is one, else value. The flags of its members
// are put in.
func (f *Reader) argument(name string, value json.RawMessage) (json.RawMessage, error) {
	var members []*Parameter // those with a flag
	for i := range f.Params {
		p := &f.Params[i]
		switch g := f.given[p.Name]; {
		case g == nil:
		case p.Parent == name:
			members = append(members, p)
		case p.Parent == "" && p.Name == name:
			value = f.value(name, g)
		}
	}
	if len(members) == 0 {
		return value, nil
	}
	if value != nil && !gjson.ParseBytes(value).IsObject() {
		return nil, f.usage("--%s is given twice", members[0].Flag) // it has no place in a value that is not an object
	}
	out := rawjson.Object{}
	written := map[string]bool{}
	rawjson.EachMember(value, func(member string, key, value json.RawMessage) {
		if slices.ContainsFunc(members, func(p *Parameter) bool { return p.Name == member }) {
			if written[member] {
				return
			}
			value = f.value(member, f.given[member])
		}
		written[member] = true
		out.Add(key, value)
	})
	for _, p := range members {
		if !written[p.Name] {
			out.Add(rawjson.Quote(p.Name), f.value(p.Name, f.given[p.Name]))
		}
	}
	return out.Bytes(), nil
}

// value returns the JSON value of a parameter: an array of all items if the parameter is an array.
func (f *Reader) value(name string, g *givenValue) json.RawMessage {
	if g.json != nil {
		return g.json
	}
	i := slices.IndexFunc(f.Params, func(p Parameter) bool { return p.Name == name })
	if !f.Params[i].Is("array") {
		return g.items[0]
	}
	out := []byte{'['}
	for i, item := range g.items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

// AwaitsValue returns the parameter whose flag is the last token and still needs a value; nil if there is none.
func (f *Reader) AwaitsValue(tokens []string) *Parameter {
	if len(tokens) == 0 {
		return nil
	}
	name, isFlag := strings.CutPrefix(tokens[len(tokens)-1], "--")
	if !isFlag || strings.Contains(name, "=") {
		return nil
	}
	s, err := f.parseName(name)
	if err != nil || s.param == nil || s.param.Is("boolean") {
		return nil
	}
	return s.param
}
