package hosts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// This file converts our entries to the format of another program.

// placedValue is a value and its place in a host's file.
type placedValue struct {
	Path  []string
	Value json.RawMessage
}

// Written is a server in the format of a host.
type Written struct {
	Members []placedValue // the entry first, then members elsewhere in the file
	// Notes lists what is not carried over or means something else in the host; a phrase each.
	Notes []string
	// Skip says why the host cannot have the server; empty if it can.
	Skip string

	entry *orderedObject
}

// Write converts one of our entries to an entry of a host. foreign are our fields that no host has, as [ParseEntry]
// returns them. dir is the folder of our settings. Variables are not expanded: they are converted if the host has an
// equivalent, and stay as they are otherwise.
func (h Host) Write(name string, e Entry, foreign []string, dir string) Written {
	if h.refusalReason != nil {
		if reason := h.refusalReason(e); reason != "" {
			return Written{Skip: reason}
		}
	}
	w := &hostWriting{host: &h, name: name, entry: e, dir: dir, used: map[string]bool{}}
	if e.Disabled() && !h.hasField("disabled") {
		return Written{Skip: "it is disabled, which " + h.Title + " cannot say"}
	}
	if h.write != nil {
		h.write(w)
	}
	w.transport()
	for _, f := range h.fields {
		w.field(f.ourName, f)
	}
	for _, field := range fieldOrder {
		if _, set := e.values[field]; set && !w.used[field] {
			w.addNote("%s: not carried", field)
		}
	}
	for _, field := range foreign {
		w.addNote("%s: not carried", field)
	}
	return Written{
		Members: append([]placedValue{{Path: h.path(name, e), Value: w.out.json()}}, w.extraParts...),
		Notes:   w.notes, entry: &w.out,
	}
}

// path returns the place of an entry in the host's file.
func (h Host) path(name string, e Entry) []string {
	if h.format == yamlText {
		section := map[string]string{"stdio": "stdio", "http": "streamable-http", "sse": "sse"}[e.Transport()]
		if strings.Contains(name, ".") {
			name = "[" + name + "]" // in brackets, since Spring would split it at its dots
		}
		return append(strings.Split(h.Key, "."), section, "connections", name)
	}
	return []string{h.Key, name}
}

// hasField reports whether the host's table has one of our fields.
func (h Host) hasField(ours string) bool {
	return slices.ContainsFunc(h.fields, func(f field) bool { return f.ourName == ours })
}

// hostWriting is one of our entries while it is converted to a host's format.
type hostWriting struct {
	host       *Host
	name       string
	entry      Entry
	dir        string
	out        orderedObject
	extraParts []placedValue
	notes      []string
	used       map[string]bool
}

func (w *hostWriting) addNote(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !contains(w.notes, n) {
		w.notes = append(w.notes, n)
	}
}

// takeField returns one of our fields and marks it as written; nil if it was marked before.
func (w *hostWriting) takeField(name string) any {
	if v, ok := w.entry.values[name]; ok && !w.used[name] {
		w.used[name] = true
		return v
	}
	return nil
}

// field writes one of our fields, unless it was marked as written before.
func (w *hostWriting) field(ours string, f field) {
	v := w.takeField(ours)
	if v == nil {
		return
	}
	if f.kind.write != nil {
		var ok bool
		if v, ok = f.kind.write(w, v); !ok {
			w.used[ours] = false
			return
		}
	}
	w.set(f.hostName, v)
}

// set writes a field of the host. A name with a dot is a member of an object.
func (w *hostWriting) set(theirs string, v any) {
	outer, inner, nested := strings.Cut(theirs, ".")
	if !nested {
		w.out.set(theirs, v)
		return
	}
	if !w.out.has(outer) {
		w.out.set(outer, &orderedObject{})
	}
	w.out.list[w.out.find(outer)].value.(*orderedObject).set(inner, v)
}

// transport writes the host's word for the transport, if it has one.
func (w *hostWriting) transport() {
	if w.used["type"] {
		return
	}
	t, words := w.entry.Transport(), w.host.types
	word := map[string]string{"stdio": words.stdio, "http": words.http, "sse": words.sse}[t]
	address, _ := w.entry.values["url"].(string)
	switch {
	case word != "":
		w.used["type"] = true
		w.putFirst("type", word)
	case t == "stdio", !words.any() && t == byURL(address):
		w.used["type"] = true
	}
}

// putFirst writes a field before all others.
func (w *hostWriting) putFirst(name string, v any) {
	w.out.list = append([]item{{name, v}}, w.out.list...)
}

func (w *hostWriting) texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = w.text(s)
	}
	return out
}

func (w *hostWriting) dict(all map[string]*string) map[string]*string {
	out := make(map[string]*string, len(all))
	for name, v := range all {
		if v != nil {
			s := w.text(*v)
			v = &s
		}
		out[name] = v
	}
	return out
}
