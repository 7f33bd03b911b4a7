package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// flagReader reads the flags of one action, pass 2 of the mapping (siyuan-tools.md 10.1).
type flagReader struct {
	command string // "collie TOOL ACTION", for messages
	params  []parameter
	globals func(name string) bool // reports whether the command line itself has a flag; may be nil
	file    func(name string) ([]byte, error)
	stdin   func() ([]byte, error)

	given map[string]*given // by name of the parameter
}

// given is what the command line says of one parameter.
type given struct {
	plain []json.RawMessage // the values in order; one, unless it is an array
	json  json.RawMessage   // of --key-json, which wins
}

// spelling is how a flag was meant.
type spelling struct {
	param  *parameter
	json   bool // --key-json
	negate bool // --no-key
}

// read maps tokens to arguments. start, a JSON object or nil, is what the flags are put
// into: a flag replaces the member of its name, the others are added in the order of the
// schema. All that is wrong is wrong before anything is called.
func (f *flagReader) read(tokens []string, start json.RawMessage) (json.RawMessage, error) {
	f.given = map[string]*given{}
	for _, t := range tokens {
		if !utf8.ValidString(t) {
			return nil, usage("the argument %q is not UTF-8 text", t)
		}
	}
	for len(tokens) > 0 {
		rest, err := f.one(tokens)
		if err != nil {
			return nil, err
		}
		tokens = rest
	}
	return f.assemble(start), nil
}

// one reads the flag that tokens begin with and returns what follows it.
func (f *flagReader) one(tokens []string) (rest []string, err error) {
	token, rest := tokens[0], tokens[1:]
	if token == "--" { // flags of the command line end here, those of the action go on
		f.globals = nil
		return rest, nil
	}
	name, ok := strings.CutPrefix(token, "--")
	if !ok || name == "" {
		return nil, usage("unexpected argument %q; %s takes flags only, see %s --help", token, f.command, f.command)
	}
	name, value, inline := strings.Cut(name, "=")
	s, err := f.find(name)
	if err != nil {
		return nil, err
	}
	if s.param.is("boolean") && !s.json {
		return rest, f.setBool(s, name, value, inline)
	}
	if !inline {
		if len(rest) == 0 || rest[0] == "--" || f.isFlag(rest[0]) {
			return nil, usage("--%s needs a value: %s", name, f.form(s.param))
		}
		value, rest = rest[0], rest[1:]
	}
	if s.json {
		return rest, f.setJSON(s.param, name, value)
	}
	return rest, f.set(s.param, name, value)
}

// find returns what a flag means: a parameter by its exact name, else by any spelling of it,
// else with --no- before or -json behind it.
func (f *flagReader) find(name string) (spelling, error) {
	if p, err := f.param(name); p != nil || err != nil {
		return spelling{param: p}, err
	}
	low := strings.ToLower(name)
	if strings.HasSuffix(low, "-json") {
		if p, err := f.param(name[:len(name)-len("-json")]); p != nil || err != nil {
			return spelling{param: p, json: true}, err
		}
	}
	if strings.HasPrefix(low, "no-") {
		if p, err := f.param(name[len("no-"):]); err != nil || p != nil && p.is("boolean") {
			return spelling{param: p, negate: true}, err
		}
	}
	return spelling{}, f.unknown(name)
}

// param returns the parameter of a name or a spelling of it, nil if there is none.
func (f *flagReader) param(name string) (*parameter, error) {
	var like []*parameter
	for i := range f.params {
		p := &f.params[i]
		if p.name == name {
			return p, nil
		}
		if want := plain(name); want != "" && plain(p.name) == want {
			like = append(like, p)
		}
	}
	switch len(like) {
	case 0:
		return nil, nil //nolint:nilnil // the documented answer for none
	case 1:
		return like[0], nil
	}
	names := make([]string, len(like))
	for i, p := range like {
		names[i] = "--" + p.flag
	}
	return nil, usage("--%s may mean %s; write one of them exactly", name, strings.Join(names, " or "))
}

// unknown is the error for a flag that the action does not have (R-10-1).
func (f *flagReader) unknown(name string) error {
	if len(f.params) == 0 {
		return usage("unknown flag --%s: %s has no flags; --args '{…}' passes what its schema does not name", name, f.command)
	}
	flags := make([]string, len(f.params))
	for i := range f.params {
		flags[i] = f.params[i].flag
	}
	msg := fmt.Sprintf("unknown flag --%s", name)
	if near := didYouMean("--"+name, prefixed("--", flags)); near != "" {
		msg += near
	}
	return usage("%s\n  flags of %s: %s", msg, f.command, strings.Join(prefixed("--", flags), ", "))
}

func prefixed(prefix string, list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = prefix + s
	}
	return out
}

// isFlag reports whether a token can only be a flag, so that it is nobody's value.
func (f *flagReader) isFlag(token string) bool {
	name, ok := strings.CutPrefix(token, "--")
	if !ok || name == "" {
		return false
	}
	name, _, _ = strings.Cut(name, "=")
	if f.globals != nil && f.globals(name) {
		return true
	}
	s, err := f.find(name)
	return err == nil && s.param != nil
}

func (f *flagReader) setBool(s spelling, name, value string, inline bool) error {
	truth := !s.negate
	if inline {
		switch strings.ToLower(value) {
		case "true":
		case "false":
			truth = !truth
		default:
			return usage("--%s is %q, expected true or false", name, value)
		}
	}
	return f.add(s.param, name, json.RawMessage(fmt.Sprint(truth)))
}

// setJSON takes a value as it is written.
func (f *flagReader) setJSON(p *parameter, name, value string) error {
	text, err := f.text(name, value)
	if err != nil {
		return err
	}
	raw := json.RawMessage(strings.TrimSpace(text))
	if !json.Valid(raw) {
		return usage("--%s is no valid JSON", name)
	}
	if p.is("array") && raw[0] != '[' {
		return usage("--%s must be a JSON array", name)
	}
	g := f.of(p)
	if g.json != nil {
		return usage("--%s is given twice", name)
	}
	g.json = raw
	return nil
}

func (f *flagReader) set(p *parameter, name, value string) error {
	switch {
	case p.is("array"):
		return f.setArray(p, name, value)
	case p.is("string"):
		text, err := f.text(name, value)
		if err != nil {
			return err
		}
		return f.add(p, name, quote(text))
	}
	raw, ok := convert(value, p.types)
	if !ok {
		return usage("--%s is %q, expected %s%s", name, value, f.form(p), f.jsonHint(p))
	}
	return f.add(p, name, raw)
}

// setArray takes one or several items: a comma separates, unless a backslash stands before
// it (R-10-2).
func (f *flagReader) setArray(p *parameter, name, value string) error {
	if strings.HasPrefix(value, "[") && json.Valid([]byte(value)) {
		return usage("--%s takes items; a whole JSON array is --%s-json '%s'", name, p.flag, value)
	}
	g := f.of(p)
	if g.plain == nil {
		g.plain = []json.RawMessage{}
	}
	if value == "" {
		return nil
	}
	for _, item := range splitItems(value) {
		raw, ok := convert(item, p.items)
		if !ok {
			return usage("--%s has the item %q, expected %s%s", name, item, f.form(p), f.jsonHint(p))
		}
		g.plain = append(g.plain, raw)
	}
	return nil
}

func splitItems(value string) []string {
	var items []string
	var item strings.Builder
	for i := 0; i < len(value); i++ {
		switch {
		case value[i] == '\\' && i+1 < len(value) && value[i+1] == ',':
			i++
			item.WriteByte(',')
		case value[i] == ',':
			items = append(items, item.String())
			item.Reset()
		default:
			item.WriteByte(value[i])
		}
	}
	return append(items, item.String())
}

// add notes the one value of a parameter.
func (f *flagReader) add(p *parameter, name string, raw json.RawMessage) error {
	g := f.of(p)
	if g.plain != nil {
		return usage("--%s is given twice", name)
	}
	g.plain = []json.RawMessage{raw}
	return nil
}

func (f *flagReader) of(p *parameter) *given {
	g := f.given[p.name]
	if g == nil {
		g = &given{}
		f.given[p.name] = g
	}
	return g
}

// text is a value that may be in a file, @FILE, or on stdin, - (R-10-3). @@ begins a text
// that begins with @.
func (f *flagReader) text(name, value string) (string, error) {
	var raw []byte
	var err error
	switch {
	case value == "-":
		raw, err = f.stdin()
	case strings.HasPrefix(value, "@@"):
		return value[1:], nil
	case len(value) > 1 && value[0] == '@':
		if raw, err = f.file(value[1:]); err != nil {
			err = fmt.Errorf("%w; write @%s for a text that begins with @", err, value)
		}
	default:
		raw = []byte(value)
	}
	if err != nil {
		return "", usage("--%s: %v", name, err)
	}
	if !utf8.Valid(raw) {
		return "", usage("--%s is not UTF-8 text", name)
	}
	return string(raw), nil
}

// form says what a value looks like.
func (f *flagReader) form(p *parameter) string {
	if len(p.enum) > 0 {
		return "one of " + joinValues(p.enum, 12)
	}
	switch p.typeName() {
	case "string":
		return "a text, @FILE or - for stdin"
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "object":
		return "a JSON object"
	case "any":
		return "a text or JSON"
	}
	return p.typeName()
}

// jsonHint is advice for what has no plain form.
func (f *flagReader) jsonHint(p *parameter) string {
	if p.is("array") && (slices.Contains(p.items, "object") || slices.Contains(p.items, "array")) {
		return fmt.Sprintf("; write --%s-json '[…]'", p.flag)
	}
	return ""
}

// assemble puts the values into start.
func (f *flagReader) assemble(start json.RawMessage) json.RawMessage {
	if len(f.given) == 0 && start != nil {
		return start
	}
	out := object{}
	written := map[string]bool{}
	eachMember(start, func(name string, key, value json.RawMessage) {
		if g := f.given[name]; g != nil {
			if written[name] {
				return
			}
			value = f.value(name, g)
		}
		written[name] = true
		out.add(key, value)
	})
	for i := range f.params {
		p := &f.params[i]
		if g := f.given[p.name]; g != nil && !written[p.name] {
			out.add(quote(p.name), f.value(p.name, g))
		}
	}
	return out.bytes()
}

func (f *flagReader) value(name string, g *given) json.RawMessage {
	if g.json != nil {
		return g.json
	}
	i := slices.IndexFunc(f.params, func(p parameter) bool { return p.name == name })
	if !f.params[i].is("array") {
		return g.plain[0]
	}
	out := []byte{'['}
	for i, item := range g.plain {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

// errStdinTwice is the answer to a second -.
var errStdinTwice = errors.New("stdin can be read once")
