package call

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/rawjson"
	"collie/internal/face/cli/root"
)

// flagReader parses the flags of one action. It is the second pass over a command line; see invocation.
type flagReader struct {
	command string // "collie TOOL ACTION", for messages
	params  []parameter
	globals func(name string) bool // reports whether the command line itself has this flag; may be nil
	file    func(name string) ([]byte, error)
	stdin   func() ([]byte, error)
	// positional are the names of the parameters that take values without a flag, in order.
	positional []string

	given  map[string]*given // by parameter name
	placed []string          // the values without a flag
}

// given holds the values of one parameter on the command line.
type given struct {
	plain []json.RawMessage // in order; one value unless the parameter is an array
	json  json.RawMessage   // value of --key-json, which takes precedence
}

// spelling is the form in which a flag was given.
type spelling struct {
	param  *parameter
	json   bool // --key-json
	negate bool // --no-key
}

// read converts tokens to arguments. start is a JSON object or nil: a flag replaces the member of its name,
// and other members are added in the order of the schema. All errors are reported before anything is called.
func (f *flagReader) read(tokens []string, start json.RawMessage) (json.RawMessage, error) {
	f.given, f.placed = map[string]*given{}, nil
	for _, t := range tokens {
		if !utf8.ValidString(t) {
			return nil, root.Usage("the argument %q is not UTF-8 text", t)
		}
	}
	for len(tokens) > 0 {
		rest, err := f.one(tokens)
		if err != nil {
			return nil, err
		}
		tokens = rest
	}
	if err := f.placeAll(start); err != nil {
		return nil, err
	}
	return f.assemble(start), nil
}

// one parses the flag at the start of tokens and returns the remaining tokens.
func (f *flagReader) one(tokens []string) (rest []string, err error) {
	token, rest := tokens[0], tokens[1:]
	if token == "--" { // the end of the command line's own flags; those of the action continue
		f.globals = nil
		return rest, nil
	}
	name, ok := strings.CutPrefix(token, "--")
	if (token == "-" || !strings.HasPrefix(token, "-")) && len(f.positional) > 0 {
		f.placed = append(f.placed, token)
		return rest, nil
	}
	if !ok || name == "" {
		return nil, root.Usage("unexpected argument %q; %s takes flags only, see %s --help", token, f.command, f.command)
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
			return nil, root.Usage("--%s needs a value: %s", name, f.form(s.param))
		}
		value, rest = rest[0], rest[1:]
	}
	if s.json {
		return rest, f.setJSON(s.param, name, value)
	}
	return rest, f.set(s.param, name, value)
}

// find returns the parameter of a flag: by its exact name, else by another spelling of it, else with the
// prefix no- or the suffix -json.
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

// param returns the parameter with this name or a spelling of it, nil if there is none.
func (f *flagReader) param(name string) (*parameter, error) {
	var like []*parameter
	for i := range f.params {
		p := &f.params[i]
		if p.name == name {
			return p, nil
		}
		if want := root.Plain(name); want != "" && p.called(want) {
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
	return nil, root.Usage("--%s may mean %s; write one of them exactly", name, strings.Join(names, " or "))
}

// unknown returns the error for a flag that the action does not have.
func (f *flagReader) unknown(name string) error {
	if len(f.params) == 0 {
		return root.Usage("unknown flag --%s: %s has no flags; --args '{…}' passes what its schema does not name", name, f.command)
	}
	flags := make([]string, len(f.params))
	for i := range f.params {
		flags[i] = f.params[i].flag
	}
	msg := locale.Sprintf("unknown flag --%s", name)
	if near := root.DidYouMean("--"+name, prefixed("--", flags)); near != "" {
		msg += near
	}
	return root.Usage("%s\n  flags of %s: %s", msg, f.command, strings.Join(prefixed("--", flags), ", "))
}

func prefixed(prefix string, list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = prefix + s
	}
	return out
}

// isFlag reports whether a token can only be a flag, and so cannot be a value.
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

// assemble inserts the values into start.
func (f *flagReader) assemble(start json.RawMessage) json.RawMessage {
	if len(f.given) == 0 && start != nil {
		return start
	}
	out := rawjson.Object{}
	written := map[string]bool{}
	rawjson.EachMember(start, func(name string, key, value json.RawMessage) {
		if g := f.given[name]; g != nil {
			if written[name] {
				return
			}
			value = f.value(name, g)
		}
		written[name] = true
		out.Add(key, value)
	})
	for i := range f.params {
		p := &f.params[i]
		switch g := f.given[p.name]; {
		case g == nil || written[p.name]:
		case p.in == "":
			out.Add(rawjson.Quote(p.name), f.value(p.name, g))
		case !written[p.in]:
			written[p.in] = true
			out.Add(rawjson.Quote(p.in), f.members(p.in))
		}
	}
	return out.Bytes()
}

// members returns the object that the flags for its members give.
func (f *flagReader) members(in string) json.RawMessage {
	out := rawjson.Object{}
	for i := range f.params {
		p := &f.params[i]
		if g := f.given[p.name]; g != nil && p.in == in {
			out.Add(rawjson.Quote(p.name), f.value(p.name, g))
		}
	}
	return out.Bytes()
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
