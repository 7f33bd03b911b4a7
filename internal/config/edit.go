package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"collie/internal/atomicfile"
	"collie/internal/jsonc"
)

// edit replaces the text of a settings file by what change makes of it; change gets nil where
// there is no file. It is the only way Collie writes such a file, and only people's commands
// call it.
//
// A text with errors that the old one does not have is refused with an [*Error]. The old text
// is kept as file.bak, the mode stays, a symbolic link is followed; a new file gets mode 0600.
// Nothing is written when the text does not change. Edits of several processes do not mix.
func edit(ctx context.Context, file string, change func(text []byte) ([]byte, error)) error {
	file, err := follow(file)
	if err != nil {
		return fmt.Errorf("edit settings: %w", err)
	}
	unlock, err := atomicfile.Lock(ctx, file+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	old, err := readFile(file)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return fmt.Errorf("edit settings: %w", err)
	}
	text, err := change(old)
	if err != nil {
		return fmt.Errorf("edit settings %q: %w", file, err)
	}
	if bytes.Equal(old, text) { // nothing is made of no file, too
		return nil
	}
	if err := newErrors(file, old, text); err != nil {
		return err
	}
	if missing {
		return atomicfile.Write(file, text, 0o600)
	}
	return rewrite(file, old, text)
}

// follow returns the file that a path leads to; a path that leads nowhere yet is returned as
// it is.
func follow(file string) (string, error) {
	target, err := filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	return target, err
}

func rewrite(file string, old, text []byte) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	if err := atomicfile.Write(file+".bak", old, mode); err != nil {
		return err
	}
	if err := atomicfile.Write(file, text, mode); err != nil {
		return err
	}
	return os.Chmod(file, mode) // the umask may have taken something away
}

// newErrors returns the errors of text that old does not have, as an [*Error].
func newErrors(file string, old, text []byte) error {
	key := func(f Finding) string { return f.Pointer + "\x00" + f.Rule + "\x00" + f.Message }
	before := map[string]bool{}
	for _, f := range check(file, old) {
		before[key(f)] = true
	}
	after := slices.DeleteFunc(check(file, text), func(f Finding) bool {
		return f.Severity != SeverityError || before[key(f)]
	})
	if len(after) > 0 {
		return &Error{after}
	}
	return nil
}

// check reads one text alone and returns what is wrong with it.
func check(file string, text []byte) []Finding {
	var d decoder
	if err := defaults(Paths{}).read(&d, file, text); err != nil {
		return nil // says nothing about the text
	}
	return d.findings
}

// AddServers writes server entries, standard JSON, at the end of the servers of a file, which
// is made if it does not exist, all or none; of each, Name and Raw count. A server that is there
// already is an error, or gets the new entry where it stands with replace.
func AddServers(ctx context.Context, file string, servers []ServerEntry, replace bool) error {
	return edit(ctx, file, Add(servers, replace))
}

// Add is the change behind [AddServers].
func Add(servers []ServerEntry, replace bool) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		for _, s := range servers {
			at, found, err := serverPlace(text, s.Name)
			if err != nil {
				return nil, err
			}
			if found && !replace {
				return nil, fmt.Errorf("server %q is defined already; remove it first", s.Name)
			}
			if text, err = jsonc.Set(text, at, s.Raw); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
}

// Remove is the change that takes a server out of a file. A server that is not there is an error.
func Remove(name string) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		at, found, err := serverPlace(text, name)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, noServer(name)
		}
		return jsonc.Remove(text, at)
	}
}

// serverPlace is where a file has the server, or where it would put it.
func serverPlace(text []byte, name string) (path []string, found bool, err error) {
	parsed, err := jsonc.Parse(text)
	if err != nil {
		return nil, false, err
	}
	root := node{&document{Document: parsed}, parsed.Root(), ""}
	if root.bare((&Config{}).fields()) {
		return []string{name}, root.value.Find(jsonc.Join("", name)) != nil, nil
	}
	place := []string{"mcpServers", name}
	for _, key := range []string{"servers", "mcpServers"} {
		v := root.value.Find(jsonc.Join("", key))
		if v == nil {
			continue
		}
		place = []string{key, name}
		if o, ok := v.Value.(*hujson.Object); ok && jsonc.Member(o, name) != nil {
			return place, true, nil
		}
	}
	return place, false, nil
}

// SetMember is the edit behind [Setting] for any text of JSON with comments, such as another
// program's file: it gives the member at path the value and returns the new text, in which all
// else is as it was. Objects missing on the way are made; a text in which the member has an
// equal value already is returned as it is.
func SetMember(text []byte, path []string, value json.RawMessage) ([]byte, error) {
	return jsonc.Set(text, path, value)
}

// Value reads what a person typed on a command line as a value: JSON where it is JSON, else a
// string.
func Value(typed string) json.RawMessage {
	if json.Valid([]byte(typed)) {
		return json.RawMessage(typed)
	}
	return json.RawMessage(hujson.String(typed))
}
