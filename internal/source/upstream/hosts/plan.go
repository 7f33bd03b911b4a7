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

	"github.com/tailscale/hujson"

	"collie/internal/atomicfile"
	"collie/internal/tool"
)

// Server is what is written into a host's file.
type Server struct {
	Name    string // usually "collie"
	Command string // absolute: hosts often have another PATH than a terminal
	Args    []string
}

// Setter gives the member at path of a text of JSON with comments a value and returns the new
// text, in which all else is as it was; see config.SetMember. A text of white space alone is an
// empty object.
type Setter func(text []byte, path []string, value json.RawMessage) ([]byte, error)

// Plan is a change of a host's file that is worked out and not made yet.
type Plan struct {
	Host  Host
	File  string          // the file itself, symbolic links followed
	Path  []string        // where in it: the key and the name
	Entry json.RawMessage // what will stand there

	before, after []byte // before is nil where there is no file
}

// Prepare works out how server gets into the file of a host. A file that does not exist will be
// made. An entry that starts the same program with the same arguments is left as it is, whatever
// else it says; any other entry of that name is replaced if force is set, and else an error.
func Prepare(h Host, file string, server Server, set Setter, force bool) (Plan, error) {
	p := Plan{Host: h, File: file, Path: []string{h.Key, server.Name}, Entry: h.entry(server)}
	fail := func(hint string, err error) (Plan, error) {
		return Plan{}, &tool.Error{Op: "connect", Kind: tool.Invalid, Subject: file, Hint: hint, Err: err}
	}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		p.File = target
	}
	text, err := os.ReadFile(p.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail("", err)
	}
	p.before = text
	if p.after, err = set(text, p.Path, p.Entry); err != nil {
		return fail("the file is not changed; repair it first", err)
	}
	switch there, same := existing(text, p.Path, server); {
	case same:
		p.after = p.before
	case there && !force:
		return fail("--force replaces it", fmt.Errorf("it has another server named %q", server.Name))
	}
	return p, nil
}

// entry is the server in the words of the host.
func (h Host) entry(s Server) json.RawMessage {
	var e struct {
		Type    string   `json:"type,omitempty"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	e.Command, e.Args = s.Command, append([]string{}, s.Args...)
	if h.Typed {
		e.Type = "stdio"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		panic(fmt.Sprintf("hosts: an entry does not encode: %v", err))
	}
	return bytes.TrimSpace(b.Bytes())
}

// existing reports whether text, which a Setter could read, has an entry at path, and whether
// that one starts the same program.
func existing(text []byte, path []string, s Server) (there, same bool) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	root, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		return false, false // white space alone
	}
	v := &root
	for _, name := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return false, false
		}
		i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
			return m.Name.Value.(hujson.Literal).String() == name
		})
		if i < 0 {
			return false, false
		}
		v = &o.Members[i].Value
	}
	v.Standardize()
	var e struct {
		Command string
		Args    []string
	}
	err = json.Unmarshal(v.Pack(), &e)
	return true, err == nil && e.Command == s.Command && slices.Equal(e.Args, s.Args)
}

// Changed reports whether Apply would write anything.
func (p Plan) Changed() bool { return !bytes.Equal(p.before, p.after) }

// String shows the change: the file, the place in it and what will stand there. What else the
// file holds is not shown.
func (p Plan) String() string {
	verb := "add to"
	switch {
	case !p.Changed():
		return fmt.Sprintf("%s has it already\n", p.File)
	case p.before == nil:
		verb = "make"
	}
	fragment := fmt.Appendf(nil, "{%q: {%q: %s}}", p.Path[0], p.Path[1], p.Entry)
	var b bytes.Buffer
	if err := json.Indent(&b, fragment, "  ", "  "); err != nil {
		panic(fmt.Sprintf("hosts: a fragment is no JSON: %v", err))
	}
	return fmt.Sprintf("%s %s\n  %s\n", verb, p.File, b.Bytes())
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
	info, err := os.Stat(p.File)
	if errors.Is(err, fs.ErrNotExist) {
		return atomicfile.Write(p.File, p.after, 0o600)
	}
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	if err := atomicfile.Write(p.File+".bak", p.before, mode); err != nil {
		return err
	}
	if err := atomicfile.Write(p.File, p.after, mode); err != nil {
		return err
	}
	return os.Chmod(p.File, mode) // the umask may have taken something away
}
