package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"collie/internal/config"
	entryadmin "collie/internal/source/upstream/entry/admin"
	"collie/internal/tool"
)

// This file changes the entry of a server. A person gets the entry with its secrets masked, and what is still masked when it
// comes back stays as it is.

// kept stands for a secret in a shown entry.
const kept = "***"

// ShownEntry is the entry of a server in the settings.
type ShownEntry struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Entry has *** in place of each secret; references such as ${secret:NAME} are shown.
	Entry json.RawMessage `json:"entry"`
	// Revision changes with the entry.
	Revision string `json:"revision"`
}

// ChangedEntry is a request to change the entry of a server.
type ChangedEntry struct {
	// Entry is the whole new entry. A text that [ShownEntry] had in the same place, with *** in it, stands for the secret there.
	Entry json.RawMessage `json:"entry"`
	// Revision is that of the [ShownEntry] from which Entry was made.
	Revision string `json:"revision"`
	// DryRun means that nothing is written.
	DryRun bool `json:"dryRun,omitempty"`
	// Typed must repeat [Added.Type]: a person has to type the name of the server if what it runs changes, or where its
	// secrets are sent.
	Typed string `json:"typed,omitempty"`
}

// Entry returns the entry of a server for a person who may change it.
func (e *Editor) Entry(_ context.Context, name string) (ShownEntry, error) {
	s, err := e.editable(e.opts.Config(), "mcp edit", name)
	if err != nil {
		return ShownEntry{}, err
	}
	return ShownEntry{s.Name, s.File, e.shown(&s), e.revision(s.Raw)}, nil
}

func (e *Editor) shown(s *config.ServerEntry) json.RawMessage {
	return entryadmin.HiddenEntry(s.Name, s.Raw, s.Dir, e.opts.Redact)
}

// revision is keyed with a seed of this process: a plain digest would let secrets that are short be guessed.
func (e *Editor) revision(raw json.RawMessage) string {
	return strconv.FormatUint(maphash.Bytes(e.seed, raw), 36)
}

// ChangeEntry changes the entry of a server. Members that do not change stay in the file as they are, with their comments.
func (e *Editor) ChangeEntry(ctx context.Context, name string, n *ChangedEntry) (Added, error) {
	const op = "mcp edit"
	e.changing.Lock()
	defer e.changing.Unlock()
	cfg := e.opts.Config()
	old, err := e.editable(cfg, op, name)
	if err != nil {
		return Added{}, err
	}
	if n.Revision != e.revision(old.Raw) {
		return Added{}, &tool.Error{Op: op, Kind: tool.StateChanged, Subject: name, Message: "its entry has changed meanwhile", Hint: "look at it again, and repeat your change"}
	}
	given, err := config.Snippet("the entry", filepath.Dir(old.File), n.Entry)
	if err != nil {
		return Added{}, err
	}
	if len(given) != 1 || given[0].Name != "" {
		return Added{}, &tool.Error{Op: op, Kind: tool.Invalid, Subject: "entry", Message: "expected one entry with a command or a url", Hint: "send it without its name"}
	}
	s := given[0]
	s.Name, s.Dir, s.Workspace = name, old.Dir, old.Workspace
	shown := e.shown(&old)
	secrets := false
	if s.Raw, err = restored("", s.Raw, shown, old.Raw, &secrets); err != nil {
		return Added{}, err
	}
	secrets = secrets || len(entryadmin.References(s.Raw)) > 0 // a reference is a secret that was not masked
	findings, err := CheckNew(cfg, e.opts.Env, []config.ServerEntry{s})
	if err != nil {
		return Added{}, err
	}
	out := Added{File: old.File, Warnings: []string{}}
	for _, f := range findings {
		out.Warnings = append(out.Warnings, f.Text())
	}
	out.describe([]config.ServerEntry{s})
	out.Servers[0].Entry = e.shown(&s)
	switch runs := out.Type != ""; {
	case moved(&old, &s) && (runs || secrets):
		out.Type = name
	default:
		out.Type = "" // a person has agreed to the rest before
	}
	if n.DryRun {
		return out, nil
	}
	if strings.TrimSpace(n.Typed) != out.Type {
		return Added{}, &tool.Error{
			Op: op, Kind: tool.Unconfirmed, Subject: name, Message: "what a server runs, and where its secrets are sent, is changed when its name is typed", Hint: "type: " + name,
		}
	}
	if err := e.edit(ctx, op, cfg, old.File, setMembers(&old, &s)); err != nil {
		return Added{}, err
	}
	out.Written = true
	return out, e.opts.Changed(ctx, op, map[string]any{"servers": []string{name}, "file": old.File})
}

// harmlessMembers are the members of an entry that change neither what is run nor where anything is sent.
var harmlessMembers = []string{
	"disabled", "enabled", "lifecycle", "idleTimeout", "startTimeout", "toolTimeout", "maxToolTimeout", "timeout", "tools", "view", "prefix", "title", "description",
	"restart", "health", "cache", "validate",
}

// moved reports whether two entries differ in a member that is not one of harmlessMembers, so that they may run something else,
// give it something else, or send it elsewhere.
func moved(old, now *config.ServerEntry) bool {
	was, is := members(old.Raw), members(now.Raw)
	for _, name := range union(was, is) {
		if !slices.Contains(harmlessMembers, name) && !equal(was[name], is[name]) {
			return true
		}
	}
	return false
}

// setMembers returns a change to a settings file that turns the entry old into now, member by member.
func setMembers(old, now *config.ServerEntry) func([]byte) ([]byte, error) {
	was, is := members(old.Raw), members(now.Raw)
	return func(text []byte) ([]byte, error) {
		for _, name := range union(was, is) {
			if equal(was[name], is[name]) {
				continue
			}
			var err error
			if text, err = config.SetInServer(now.Name, []string{name}, is[name])(text); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
}

func members(raw json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil // config has checked that it is an object
	}
	return out
}

func equal(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bytes.Equal(canonical(a), canonical(b))
}

// canonical returns a JSON value with its members in order and without spaces.
func canonical(raw json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}

// union returns the names of both, in order.
func union(a, b map[string]json.RawMessage) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// restored returns given, the value at the place at of an entry, with the secrets put back that are still masked in it. old is
// what the settings have in that place, shown is old as it was shown, with its secrets masked. restored sets *secrets if it
// has put one back, and fails for a masked text that shown does not have.
func restored(at string, given, shown, old json.RawMessage, secrets *bool) (json.RawMessage, error) {
	if shown != nil && equal(given, shown) {
		*secrets = *secrets || !equal(shown, old)
		return old, nil
	}
	if !bytes.Contains(given, []byte(kept)) {
		return given, nil
	}
	switch given = bytes.TrimSpace(given); given[0] {
	case '{':
		out, masked, was := members(given), members(shown), members(old)
		for name, v := range out {
			if strings.Contains(name, kept) && masked[name] == nil {
				return nil, notKeptError(at)
			}
			r, err := restored(at+"/"+name, v, masked[name], was[name], secrets)
			if err != nil {
				return nil, err
			}
			out[name] = r
		}
		return json.Marshal(out)
	case '[':
		out, masked, was := items(given), items(shown), items(old)
		for i, v := range out {
			at, before := fmt.Sprintf("%s/%d", at, i), itemBefore(items(given), i)
			j := keptItem(i, len(out) == len(masked), v, before, masked, was)
			if j < 0 {
				j = len(masked)
			}
			r, err := restored(at, v, itemBefore(masked, j+1), itemBefore(was, j+1), secrets)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return json.Marshal(out)
	}
	return nil, notKeptError(at)
}

// keptItem returns the index in masked, a list as it was shown, of the item that v, item i of the changed list, is: the one
// with the same text and with the same item before it, such as a flag. was is the list with its secrets. Several such items
// with different secrets are told apart by their index, if the lists have the same length. It returns -1 for none.
func keptItem(i int, sameLength bool, v, before json.RawMessage, masked, was []json.RawMessage) int {
	found := -1
	for j := range masked {
		if !equal(v, masked[j]) || !equal(before, itemBefore(masked, j)) {
			continue
		}
		switch {
		case sameLength && j == i:
			return j
		case found >= 0 && !equal(was[found], was[j]):
			return -1
		}
		found = j
	}
	return found
}

func items(raw json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil // it is not a list any more
	}
	return out
}

// itemBefore returns the item before i; nil if there is none.
func itemBefore(list []json.RawMessage, i int) json.RawMessage {
	if i < 1 || i > len(list) {
		return nil
	}
	return list[i-1]
}

func notKeptError(at string) error {
	return &tool.Error{
		Op: "mcp edit", Kind: tool.Invalid, Subject: at, Message: "*** stands for a secret that is kept, and there was none like this here",
		Hint: "write the value itself, or leave the text as it was shown",
	}
}
