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

// This file plans changes of a program's file, which are shown before they are written.

// Server is a program to write into a host's file, such as Collie itself.
type Server struct {
	Name    string // usually "collie"
	Command string // absolute, since hosts often have another PATH than a terminal
	Args    []string
	// URL is the server's address, used instead of Command. The host sends it Token, or the token in the environment
	// variable TokenEnv.
	URL, Token, TokenEnv string
}

// Entry returns the server in our own format.
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

// setter sets the member at path in a text of JSON with comments and returns the new text; everything else stays as
// it was. A blank text counts as an empty object. See config.SetInText.
type setter func(text []byte, path []string, value json.RawMessage) ([]byte, error)

// Plan is a planned change of a host's file.
type Plan struct {
	Host    Host
	File    string        // absolute, symbolic links resolved
	Members []placedValue // the new members and their places

	entries       []Written
	private       bool   // only the file's owner may read it
	before, after []byte // before is nil if there is no file, after if the file is to be deleted
}

// Prepare plans how a server gets into the file of a host, which is created if it does not exist. An entry that
// starts the same program with the same arguments is kept, whatever else it says. An entry of Collie is changed if it
// differs only in its profile, or if the old or the new one uses the HTTP listener; what its owner added to it stays, or is an
// error where it cannot. Any other entry of that name is an error. With force an entry is replaced.
func Prepare(h Host, file string, server Server, set setter, force bool) (Plan, error) {
	e := server.Entry()
	w := h.Write(server.Name, e, nil, "")
	if w.Skip != "" {
		return Plan{}, &tool.Error{Op: "connect", Kind: tool.Invalid, Subject: h.Title, Message: w.Skip}
	}
	if server.URL != "" && len(w.Notes) > 0 {
		return Plan{}, &tool.Error{Op: "connect", Kind: tool.Invalid, Subject: h.Title, Message: strings.Join(w.Notes, "; ")}
	}
	startsSame := func(name string, existing Entry) bool {
		return server.URL == "" && name == server.Name && existing.values["command"] == e.values["command"] &&
			slices.Equal(listOf(existing.values["args"]), listOf(e.values["args"]))
	}
	ours := func(name string, existing Entry) *Written {
		if name == server.Name && existing.IsGateway() &&
			(server.URL != "" || existing.asksHTTP() || slices.Equal(exceptProfile(existing.CommandLine()), exceptProfile(e.CommandLine()))) {
			return h.asConnected(name, existing)
		}
		return nil
	}
	p, err := preparePlan(h, file, []Written{w}, set, force, startsSame, ours)
	p.private = server.Token != ""
	return p, err
}

// exceptProfile returns a command line of Collie without its flag for a profile.
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

// PrepareAll is like [Prepare] for any entries. An existing entry is kept only if it is equal in every member.
func PrepareAll(h Host, file string, entries []Written, set setter, force bool) (Plan, error) {
	never := func(string, Entry) bool { return false }
	return preparePlan(h, file, entries, set, force, never, func(string, Entry) *Written { return nil })
}

// Open returns a plan that changes nothing yet. It fails if the file cannot be read in the host's format; a missing
// file is not an error.
func (h Host) Open(file string) (Plan, error) {
	absolute, err := filepath.Abs(file) // it may be put on record, and then read from another folder
	if err != nil {
		return Plan{}, planError(file, "", err)
	}
	p := Plan{Host: h, File: atomicfile.FollowLinks(absolute)}
	if target, err := filepath.EvalSymlinks(absolute); err == nil {
		p.File = target
	}
	text, err := os.ReadFile(p.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Plan{}, planError(file, "", err)
	}
	if _, err := h.format.parse(text); err != nil {
		return Plan{}, planError(file, repairHint, err)
	}
	p.before, p.after = text, text
	return p, nil
}

// repairHint is the hint for a file that cannot be read.
const repairHint = "the file is not changed; repair it first"

func planError(file, hint string, err error) error {
	return &tool.Error{Op: "connect", Kind: tool.Invalid, Subject: file, Hint: hint, Err: err}
}

func preparePlan(h Host, file string, entries []Written, set setter, force bool, isSame func(string, Entry) bool, ours func(string, Entry) *Written) (Plan, error) {
	p, err := h.Open(file)
	if err != nil {
		return Plan{}, err
	}
	p.entries = entries
	for _, w := range entries {
		p.Members = append(p.Members, w.Members...)
	}
	fail := func(hint string, err error) (Plan, error) { return Plan{}, planError(file, hint, err) }
	there, err := h.format.parse(p.after)
	if err != nil {
		return fail(repairHint, err)
	}
	for _, w := range entries {
		name := w.Members[0].Path[len(w.Members[0].Path)-1]
		old := valueAt(there.object, w.Members[0].Path)
		existing := h.foundServer(listedServer{name: name, raw: old}, Place{}).Entry
		if old != nil && isSame(name, existing) {
			continue
		}
		var was *Written
		if old != nil && !force {
			was = ours(name, existing)
		}
		if was != nil {
			if text, ok := h.renew(p.after, was, w, set); ok {
				p.after = text
				continue
			}
		}
		if p.after, err = h.put(p.after, w, set); err != nil {
			return fail(repairHint, err)
		}
		if old != nil && !force && !equal(old, w.Members[0].Value) {
			if err := mayReplace(name, old, existing, was, w); err != nil {
				return fail("--force replaces it", err)
			}
		}
	}
	return p, nil
}

// mayReplace returns why an entry is not replaced by another one unasked; nil if it may be. was is the entry as connect wrote it,
// nil if it is not one of ours.
func mayReplace(name string, old json.RawMessage, existing Entry, was *Written, now Written) error {
	switch {
	case was == nil && existing.IsGateway():
		return fmt.Errorf("it has another server named %q, which starts Collie with other settings", name)
	case was == nil:
		return fmt.Errorf("it has another server named %q", name)
	}
	var written json.RawMessage
	if len(was.Members) > 0 {
		written = was.Members[0].Value
	}
	if added := addedMembers("", old, written, now.Members[0].Value); len(added) > 0 {
		return fmt.Errorf("its server %q has more than Collie writes, which would be lost: %s", name, strings.Join(added, ", "))
	}
	return nil
}

// put writes an entry into a text.
func (h Host) put(text []byte, w Written, set setter) ([]byte, error) {
	switch h.format {
	case tomlText:
		path := w.Members[0].Path
		if there, err := h.format.parse(text); err == nil && equal(valueAt(there.object, path), w.Members[0].Value) {
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

// valueAt returns the value at a path.
func valueAt(o object, path []string) json.RawMessage {
	raw := o.get(path[0])
	for _, name := range path[1:] {
		raw = object{members: membersOf(raw)}.get(name)
	}
	return raw
}

// equal compares values regardless of the order of members.
func equal(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return bytes.Equal(encode(x), encode(y))
}

// Text returns a file of the host with the entries and nothing else.
func (h Host) Text(entries []Written) []byte {
	if h.format == tomlText {
		var tables []string
		for _, w := range entries {
			tables = append(tables, toTOML(w.Members[0].Path, w.entry))
		}
		return []byte(strings.Join(tables, "\n"))
	}
	root := &orderedObject{}
	for _, w := range entries {
		for _, m := range w.Members {
			var v any = m.Value
			for _, name := range slices.Backward(m.Path) {
				v = &orderedObject{list: []item{{name, v}}}
			}
			root.merge(v.(*orderedObject))
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

// toYAML converts JSON to YAML as people write it.
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
		_ = json.Unmarshal(raw, &list) // cannot fail: it was encoded here
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
	if n.Style == yaml.LiteralStyle { // the literal style loses characters at the ends of lines
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// Changed reports whether Apply would write anything.
func (p Plan) Changed() bool { return !bytes.Equal(p.before, p.after) }

// Describe describes the change, in the past tense if it is done: the file, and the new members with their places.
// The rest of the file is not shown.
func (p Plan) Describe(done bool) string {
	if !p.Changed() {
		return fmt.Sprintf("%s has it already\n", p.File)
	}
	var verb string
	switch exists := p.before != nil; {
	case exists && done:
		verb = "updated"
	case exists:
		verb = "would update"
	case done:
		verb = "created"
	default:
		verb = "would create"
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

// Apply makes the change. The old text is kept as <file>.bak. The file keeps its mode, without the rights of others if a
// token is written into it; a new file gets mode 0600.
// If the file has changed since Prepare, Apply fails and leaves it alone.
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
	return os.Chmod(p.File, mode) // restores the permissions that the umask removed
}
