package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"collie/internal/atomicfile"
	"collie/internal/tool"
)

// Server is a program that is written into a host's file, such as Collie itself.
type Server struct {
	Name    string // usually "collie"
	Command string // absolute: hosts often have another PATH than a terminal
	Args    []string
	// URL is where it answers, instead of a Command. Token opens it, or TokenEnv, the variable that has one.
	URL, Token, TokenEnv string
}

// Entry is the server in our words.
func (s Server) Entry() Entry {
	var e Entry
	if s.URL != "" {
		value := "Bearer " + escape(s.Token)
		if s.TokenEnv != "" {
			value = "Bearer ${" + s.TokenEnv + "}"
		}
		e.set("type", "http")
		e.set("url", escape(s.URL))
		e.set("headers", map[string]*string{"Authorization": &value})
		return e
	}
	e.set("command", escape(s.Command))
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = escape(a)
	}
	e.set("args", args)
	return e
}

// setter gives the member at path of a text of JSON with comments a value and returns the new
// text, in which all else is as it was; see config.SetMember. A text of white space alone is an
// empty object.
type setter func(text []byte, path []string, value json.RawMessage) ([]byte, error)

// Plan is a change of a host's file that is worked out and not made yet.
type Plan struct {
	Host    Host
	File    string // the file itself, symbolic links followed
	Members []part // what will stand in it, and where

	entries       []Written
	private       bool   // what is written is for the owner's eyes alone
	before, after []byte // before is nil where there is no file, after where there is to be none
}

// Prepare works out how a server gets into the file of a host. A file that does not exist will
// be made. An entry that starts the same program with the same arguments is left as it is,
// whatever else it says, and one that differs in its profile alone is replaced; any other entry of
// that name is replaced if force is set, and else an error.
func Prepare(h Host, file string, server Server, set setter, force bool) (Plan, error) {
	e := server.Entry()
	w := h.Write(server.Name, e, nil, "")
	if w.Skip != "" {
		return Plan{}, &tool.Error{Op: "connect", Kind: tool.Invalid, Subject: h.Title, Message: w.Skip}
	}
	if server.URL != "" && len(w.Notes) > 0 {
		return Plan{}, &tool.Error{Op: "connect", Kind: tool.Invalid, Subject: h.Title, Message: strings.Join(w.Notes, "; ")}
	}
	starts := func(name string, there Entry) bool {
		return server.URL == "" && name == server.Name && there.values["command"] == e.values["command"] &&
			slices.Equal(listOf(there.values["args"]), listOf(e.values["args"]))
	}
	mine := func(name string, there Entry) bool {
		if name != server.Name || !there.IsGateway() {
			return false
		}
		return server.URL != "" || there.asksHTTP() || slices.Equal(exceptProfile(there.CommandLine()), exceptProfile(e.CommandLine()))
	}
	p, err := prepare(h, file, []Written{w}, set, force, starts, mine)
	p.private = server.Token != ""
	return p, err
}

// exceptProfile is a command line of Collie without the view that it asks for.
func exceptProfile(line []string) []string {
	if i := slices.Index(line, "--profile"); i >= 0 && i+1 < len(line) {
		return slices.Delete(slices.Clone(line), i, i+2)
	}
	return line
}

func listOf(v any) []string {
	list, _ := v.([]string)
	return list
}

// PrepareAll is [Prepare] for entries of any kind. An entry that is there already, equal to the
// last member, is left as it is.
func PrepareAll(h Host, file string, entries []Written, set setter, force bool) (Plan, error) {
	never := func(string, Entry) bool { return false }
	return prepare(h, file, entries, set, force, never, never)
}

// Open is a plan that changes nothing yet. A file that cannot be read as the host reads it is an
// error; one that does not exist is not.
func (h Host) Open(file string) (Plan, error) {
	p := Plan{Host: h, File: file}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		p.File = target
	}
	text, err := os.ReadFile(p.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Plan{}, failed(file, "", err)
	}
	if _, err := h.format.parse(text); err != nil {
		return Plan{}, failed(file, repair, err)
	}
	p.before, p.after = text, text
	return p, nil
}

// repair is the hint where a file cannot be read.
const repair = "the file is not changed; repair it first"

func failed(file, hint string, err error) error {
	return &tool.Error{Op: "connect", Kind: tool.Invalid, Subject: file, Hint: hint, Err: err}
}

func prepare(h Host, file string, entries []Written, set setter, force bool, same, mine func(string, Entry) bool) (Plan, error) {
	p, err := h.Open(file)
	if err != nil {
		return Plan{}, err
	}
	p.entries = entries
	for _, w := range entries {
		p.Members = append(p.Members, w.Members...)
	}
	fail := func(hint string, err error) (Plan, error) { return Plan{}, failed(file, hint, err) }
	there, err := h.format.parse(p.after)
	if err != nil {
		return fail(repair, err)
	}
	for _, w := range entries {
		name := w.Members[0].Path[len(w.Members[0].Path)-1]
		old := at(there.object, w.Members[0].Path)
		was := h.found(listed{name: name, raw: old}, Place{}).Entry
		if old != nil && same(name, was) {
			continue
		}
		if p.after, err = h.put(p.after, w, set); err != nil {
			return fail(repair, err)
		}
		if old != nil && !force && !mine(name, was) && !equal(old, w.Members[0].Value) {
			what := ""
			if was.IsGateway() {
				what = ", which starts Collie with other settings"
			}
			return fail("--force replaces it", fmt.Errorf("it has another server named %q%s", name, what))
		}
	}
	return p, nil
}

// put writes an entry into a text.
func (h Host) put(text []byte, w Written, set setter) ([]byte, error) {
	switch h.format {
	case tomlText:
		path := w.Members[0].Path
		if there, err := h.format.parse(text); err == nil && equal(at(there.object, path), w.Members[0].Value) {
			return text, nil
		}
		return setTOML(text, path, toTOML(path, w.entry))
	case yamlText:
		if len(bytes.TrimSpace(text)) > 0 {
			return nil, errors.New("YAML is not changed, so that its comments stay; print the entry and put it in by hand")
		}
	case jsonText:
		for _, m := range w.Members {
			var err error
			if text, err = set(text, m.Path, m.Value); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
	return h.Text([]Written{w}), nil
}

// at finds the value at a path.
func at(o object, path []string) json.RawMessage {
	raw := o.get(path[0])
	for _, name := range path[1:] {
		raw = object{members: membersOf(raw)}.get(name)
	}
	return raw
}

// equal compares values whatever the order of their members.
func equal(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return bytes.Equal(encode(x), encode(y))
}

// Text is a file of the host that has the entries and nothing else.
func (h Host) Text(entries []Written) []byte {
	if h.format == tomlText {
		var tables []string
		for _, w := range entries {
			tables = append(tables, toTOML(w.Members[0].Path, w.entry))
		}
		return []byte(strings.Join(tables, "\n"))
	}
	root := &ordered{}
	for _, w := range entries {
		for _, m := range w.Members {
			var v any = m.Value
			for _, name := range slices.Backward(m.Path) {
				v = &ordered{list: []item{{name, v}}}
			}
			root.merge(v.(*ordered))
		}
	}
	if h.format == yamlText {
		return toYAML(root.json())
	}
	var b bytes.Buffer
	if err := json.Indent(&b, root.json(), "", "  "); err != nil {
		panic(fmt.Sprintf("hosts: a file is not JSON: %v", err))
	}
	return append(b.Bytes(), '\n')
}

// toYAML writes JSON as people write YAML.
func toYAML(raw json.RawMessage) []byte {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(yamlNode(raw)); err != nil {
		panic(fmt.Sprintf("hosts: a file is not YAML: %v", err))
	}
	return b.Bytes()
}

func yamlNode(raw json.RawMessage) *yaml.Node {
	switch kindOf(raw) {
	case '{':
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, m := range membersOf(raw) {
			n.Content = append(n.Content, yamlString(m.name), yamlNode(m.value))
		}
		return n
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // it was encoded here
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range list {
			n.Content = append(n.Content, yamlNode(item))
		}
		return n
	case '"':
		s, _ := stringOf(raw)
		return yamlString(s)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(raw)}
}

func yamlString(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if n.Style == yaml.LiteralStyle { // which loses characters at the ends of lines
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// Changed reports whether Apply would write anything.
func (p Plan) Changed() bool { return !bytes.Equal(p.before, p.after) }

// Describe shows the change, done or to be done: the file and what stands in it then, at its place.
// What else the file holds is not shown.
func (p Plan) Describe(done bool) string {
	verb := map[bool]string{true: "updated", false: "would update"}[done]
	switch {
	case !p.Changed():
		return fmt.Sprintf("%s has it already\n", p.File)
	case p.before == nil:
		verb = map[bool]string{true: "created", false: "would create"}[done]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", verb, p.File)
	for line := range strings.Lines(string(p.Host.Text(p.entries))) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// Apply makes the change. The old text is kept as <file>.bak and the mode stays; a new file
// gets mode 0600. A file that was changed since Prepare is left alone and an error.
func (p Plan) Apply() error {
	if !p.Changed() {
		return nil
	}
	now, err := os.ReadFile(p.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &tool.Error{Op: "connect", Kind: tool.Invalid, Subject: p.File, Err: err}
	}
	if !bytes.Equal(now, p.before) {
		return &tool.Error{
			Op: "connect", Kind: tool.Busy, Subject: p.File,
			Message: "another program changed the file just now", Hint: "close " + p.Host.Title + " and try again",
		}
	}
	if err := p.write(); err != nil {
		return &tool.Error{Op: "connect", Kind: tool.Invalid, Subject: p.File, Err: err}
	}
	return nil
}

func (p Plan) write() error {
	if p.after == nil {
		return os.Remove(p.File)
	}
	info, err := os.Stat(p.File)
	if errors.Is(err, fs.ErrNotExist) {
		return atomicfile.Write(p.File, p.after, 0o600)
	}
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	if p.private {
		mode &= 0o700
	}
	if err := atomicfile.Write(p.File+".bak", p.before, mode); err != nil {
		return err
	}
	if err := atomicfile.Write(p.File, p.after, mode); err != nil {
		return err
	}
	return os.Chmod(p.File, mode) // the umask may have taken something away
}
