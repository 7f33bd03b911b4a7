package config

import (
	"encoding/json"
	"fmt"

	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
)

// This file has changes of server entries: on and off, another name, single members. A change is a function for
// [Config.Edit] that takes the text of a file and returns the new text.

// Switch returns the change that switches servers on or off. It changes only the member "disabled", or
// "enabled" if the entry has that one, so that a comment beside it stays. A missing server is an error.
func Switch(on bool, names ...string) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		for _, name := range names {
			var err error
			if text, err = switchOne(text, name, on); err != nil {
				return nil, err
			}
		}
		return text, nil
	}
}

// switchOne switches one server on or off.
func switchOne(text []byte, name string, on bool) ([]byte, error) {
	at, found, err := serverPathInText(text, name)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, noServerError(name)
	}
	parsed, err := jsonc.Parse(text)
	if err != nil {
		return nil, err
	}
	entry, ok := parsed.Root().Find(jsonc.Join("", at...)).Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("the entry of %q is not an object", name)
	}
	if jsonc.Member(entry, "enabled") != nil {
		if text, err = jsonc.Set(text, append(at, "enabled"), boolJSON(on)); err != nil {
			return nil, err
		}
	}
	switch m := jsonc.Member(entry, "disabled"); {
	case m != nil && string(jsonc.Standard(&m.Value)) == "null" && on: // null counts as absent
	case m != nil, !on && jsonc.Member(entry, "enabled") == nil:
		return jsonc.Set(text, append(at, "disabled"), boolJSON(!on))
	}
	return text, nil
}

func boolJSON(v bool) []byte { return fmt.Appendf(nil, "%t", v) }

// Rename returns the change that renames a server in place. It is an error if the server is missing or the
// new name exists in the same file.
func Rename(from, to string) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		at, found, err := serverPathInText(text, from)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, noServerError(from)
		}
		if _, taken, err := serverPathInText(text, to); err != nil || taken {
			if err == nil {
				err = fmt.Errorf("server %q is defined already", to)
			}
			return nil, err
		}
		return jsonc.Rename(text, at, to)
	}
}

func noServerError(name string) error { return fmt.Errorf("there is no server %q in this file", name) }

// SetInServer returns the change that sets a member of a server's entry, or removes it if value is nil. path leads from
// the entry to the member. A missing server is an error.
func SetInServer(name string, path []string, value json.RawMessage) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		at, found, err := serverPathInText(text, name)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, noServerError(name)
		}
		at = append(at, path...)
		if value != nil {
			return jsonc.Set(text, at, value)
		}
		parsed, err := jsonc.Parse(text)
		if err != nil || parsed.Root().Find(jsonc.Join("", at...)) == nil {
			return text, err
		}
		return jsonc.Remove(text, at)
	}
}
