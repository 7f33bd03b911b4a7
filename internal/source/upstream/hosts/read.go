package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"collie/internal/tool"
)

// This file reads the servers in a program's file and converts them to our format.

// Found is a server that a host's file defines.
type Found struct {
	Name    string // the host's name for it
	Project string // the folder it is for; empty: all of the user's projects
	Entry   Entry
	Path    []string // its place in the file; nil if it cannot be removed from there
	// Notes lists what the entry cannot express, or means differently; a phrase each.
	Notes []string
	// Skip says why there is no entry; empty if there is one.
	Skip string
}

// Read returns the servers of a host's file, in its order. It also reads a file that this one refers to, as Spring's
// does. It changes no file and starts no server. For a missing file the error is [fs.ErrNotExist].
func (h Host) Read(p Place) ([]Found, error) {
	text, err := readFile(p.File)
	if err != nil {
		return nil, unreadable(p.File, err)
	}
	return h.Parse(p, text)
}

// Parse is like [Host.Read] for the text of a file that was read already.
func (h Host) Parse(p Place, text []byte) ([]Found, error) {
	d, err := h.format.parse(text)
	if err != nil {
		return nil, unreadable(p.File, err)
	}
	d.dir, d.read = filepath.Dir(p.File), readFile
	list := h.list
	if list == nil {
		list = func(d *document) []listedServer { return d.servers(h.Key) }
	}
	var found []Found
	for _, l := range list(d) {
		found = append(found, h.foundServer(l, p))
	}
	return found, nil
}

func unreadable(file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &tool.Error{Op: "read servers", Kind: tool.Invalid, Subject: file, Err: err}
}

// readFile reads a file, but at most one byte more than maxSize.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSize+1))
}

func (h Host) foundServer(l listedServer, p Place) Found {
	out := Found{Name: l.name, Project: p.Project, Path: l.path, Skip: l.skip}
	if l.project != "" {
		out.Project = l.project
	}
	if l.skip != "" {
		return out
	}
	if l.as != nil { // the entry is in another host's format
		h = *l.as
	}
	r := newReading(&h, l.raw, out.Project)
	if l.adapt != nil { // other parts of the file say something about it
		l.adapt(r)
	}
	r.finish()
	for _, name := range r.unread {
		r.addNote("%s: not carried", name)
	}
	out.Entry, out.Notes = r.entry, r.notes
	if r.entry.values["command"] == nil && r.entry.values["url"] == nil {
		out.Skip = "it has neither a command nor an address"
	}
	return out
}

// hostReading is one server of a host's file while it is converted to our format.
type hostReading struct {
	object
	host   *Host
	base   string // folder that relative paths start from; empty if unknown
	entry  Entry
	notes  []string
	used   map[string]bool // names of fields that were read, or that mean nothing here
	unread []string        // names of fields that were not read
}

func newReading(h *Host, raw json.RawMessage, base string) *hostReading {
	return &hostReading{object: object{members: membersOf(raw)}, host: h, base: base, used: map[string]bool{}}
}

// finish runs the host's own read function and then its table of fields. Then it sets the transport and the working
// folder, and records what was not read.
func (r *hostReading) finish() {
	if r.host.read != nil {
		r.host.read(r)
	}
	for _, f := range r.host.fields {
		r.field(f.hostName, f)
	}
	r.transport()
	r.place()
	r.noteUnread()
}

func (r *hostReading) addNote(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !contains(r.notes, n) {
		r.notes = append(r.notes, n)
	}
}

func (r *hostReading) set(name string, v any) { r.entry.set(name, v) }

// field converts one field of the host to one of ours, unless ours is set already.
func (r *hostReading) field(theirs string, f field) {
	raw := r.takeField(theirs)
	if raw == nil {
		return
	}
	if _, set := r.entry.values[f.ourName]; set {
		return
	}
	v, ok := f.kind.read(r, raw)
	if !ok && r.host.isOurs() { // in our own format, it counts as a field that we do not know
		r.unread = append(r.unread, theirs)
		return
	}
	if !ok {
		r.addNote("%s: expected %s; not carried", theirs, f.kind.noun)
		return
	}
	if v != nil {
		r.set(f.ourName, v)
	}
}

// takeField returns a field and marks it as read. A name with a dot is a member of an object.
func (r *hostReading) takeField(name string) json.RawMessage {
	r.used[name] = true
	return r.get(name)
}

// get returns a field without marking it. A name with a dot is a member of an object.
func (r *hostReading) get(name string) json.RawMessage {
	outer, inner, nested := strings.Cut(name, ".")
	if nested {
		return object{members: membersOf(r.object.get(outer))}.get(inner)
	}
	return r.object.get(name)
}

func (r *hostReading) isObject(name string) bool { return kindOf(r.get(name)) == '{' }

// ignoreFields marks fields as read that mean nothing outside of the host.
func (r *hostReading) ignoreFields(fields ...string) {
	for _, f := range fields {
		r.used[f] = true
	}
}

// peek returns a string field without marking it as read.
func (r *hostReading) peek(name string) (string, bool) { return stringOf(r.get(name)) }

// string, strings and bool return a field of that type and mark it as read; ok is false for another type.
func (r *hostReading) string(name string) (string, bool) {
	s, ok := stringOf(r.get(name))
	if ok {
		r.used[name] = true
	}
	return s, ok
}

func (r *hostReading) strings(name string) ([]string, bool) {
	list, ok := stringsOf(r.get(name))
	if ok {
		r.used[name] = true
	}
	return list, ok
}

func (r *hostReading) bool(name string) (v, ok bool) {
	v, ok = boolOf(r.get(name))
	if ok {
		r.used[name] = true
	}
	return v, ok
}

// noteUnread records the fields that were not read, in the order of the file.
func (r *hostReading) noteUnread() {
	for _, m := range r.members {
		if r.used[m.name] || kindOf(m.value) == 'n' || contains(r.unread, m.name) {
			continue
		}
		opened := false // whether a member of this object was read, as in name.inner
		for name := range r.used {
			opened = opened || strings.HasPrefix(name, m.name+".")
		}
		if !opened || kindOf(m.value) != '{' {
			r.unread = append(r.unread, m.name)
			continue
		}
		for _, inner := range membersOf(m.value) {
			if name := m.name + "." + inner.name; !r.used[name] && kindOf(inner.value) != 'n' {
				r.unread = append(r.unread, name)
			}
		}
	}
}

// texts converts strings in the host's notation to ours.
func (r *hostReading) texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = r.text(s)
	}
	return out
}

// commandLine sets program and arguments from the single list in which some hosts have both.
func (r *hostReading) commandLine(list []string) {
	r.set("command", r.program(r.text(list[0])))
	if len(list) > 1 {
		r.set("args", r.texts(list[1:]))
	}
}
