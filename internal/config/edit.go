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

// This file changes settings files as text, so that comments and order stay.

// editFile replaces the text of a settings file with what change returns for it; text is nil if there is no file.
// It runs only for what a person asks, by a command or in the pages. Nothing else writes settings files.
//
// A new text with errors that the old one does not have is refused with an [*Error]. The old text is kept as
// file.bak. The mode stays, and a symbolic link is followed; a new file has mode 0600. Nothing is written if
// the text does not change. Edits of several processes are serialized.
func editFile(ctx context.Context, file string, change func(text []byte) ([]byte, error)) error {
	file, err := resolveLinks(file)
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
	if bytes.Equal(old, text) { // also if there is no file and change makes no text
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

// resolveLinks resolves symbolic links. The target need not exist.
func resolveLinks(file string) (string, error) {
	target, err := filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		return atomicfile.FollowLinks(file), nil
	}
	return target, err
}

// rewrite replaces an existing file by text, with the same mode, and writes the old text to file.bak.
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
	return os.Chmod(file, mode) // the umask may have removed bits
}

// newErrors returns the errors that text has and old does not, as an [*Error]; nil if there are none.
func newErrors(file string, old, text []byte) error {
	key := func(f Finding) string { return f.Pointer + "\x00" + f.Rule + "\x00" + f.Message }
	before := map[string]bool{}
	for _, f := range findProblems(file, old) {
		before[key(f)] = true
	}
	after := slices.DeleteFunc(findProblems(file, text), func(f Finding) bool {
		return f.Severity != SeverityError || before[key(f)]
	})
	if len(after) > 0 {
		return &Error{after}
	}
	return nil
}

// findProblems reads one text alone and returns its findings.
func findProblems(file string, text []byte) []Finding {
	var d decoder
	if err := defaultConfig(Paths{}).read(&d, file, text); err != nil {
		return nil // this error is not about the text
	}
	return d.findings
}

// AddServers adds server entries (standard JSON) at the end of the servers of a file: all or none. It creates
// the file if necessary. Only Name and Raw of an entry are used. A server that already exists is an error;
// with replace its entry is replaced in place.
func AddServers(ctx context.Context, file string, servers []ServerEntry, replace bool) error {
	return editFile(ctx, file, Add(servers, replace))
}

// Add returns the change that [AddServers] makes.
func Add(servers []ServerEntry, replace bool) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		for _, s := range servers {
			at, found, err := serverPathInText(text, s.Name)
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

// Remove returns the change that removes a server. A missing server is an error.
func Remove(name string) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		at, found, err := serverPathInText(text, name)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, noServerError(name)
		}
		return jsonc.Remove(text, at)
	}
}

// errBareEntry refuses a change of a file that is one entry: what is written beside its members would not be read.
var errBareEntry = errors.New(`this file is one server entry without a name; wrap it as {"mcpServers": {"NAME": {…}}} first`)

// serverPathInText returns the path of a server in a file, or the path where it would be added.
func serverPathInText(text []byte, name string) (path []string, found bool, err error) {
	parsed, err := jsonc.Parse(text)
	if err != nil {
		return nil, false, err
	}
	root := node{&document{Document: parsed}, parsed.Root(), ""}
	if root.isBareList((&Config{}).fields()) {
		return []string{name}, root.value.Find(jsonc.Join("", name)) != nil, nil
	}
	if looksLikeServer(root.value) {
		return nil, false, errBareEntry
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

// SetInText sets the member at path in any JSON text with comments, which need not be settings of ours, and
// returns the new text. Everything else in it stays. Missing objects along the path are created. If the
// member already has an equal value, text is returned unchanged.
func SetInText(text []byte, path []string, value json.RawMessage) ([]byte, error) {
	return jsonc.Set(text, path, value)
}

// Value interprets what a person typed as a value: JSON if it is valid JSON, else a string.
func Value(typed string) json.RawMessage {
	if json.Valid([]byte(typed)) {
		return json.RawMessage(typed)
	}
	return json.RawMessage(hujson.String(typed))
}
