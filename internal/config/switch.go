package config

import (
	"fmt"

	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
)

// A change is what [Config.Edit] does to a text.

// Switch is the change that switches servers on or off. Only what says so changes: "disabled",
// or "enabled" where the entry has that one, so that a comment beside it stays. A server that is
// not there is an error.
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

func switchOne(text []byte, name string, on bool) ([]byte, error) {
	at, found, err := serverPlace(text, name)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, noServer(name)
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
		if text, err = jsonc.Set(text, append(at, "enabled"), boolean(on)); err != nil {
			return nil, err
		}
	}
	switch m := jsonc.Member(entry, "disabled"); {
	case m != nil && string(jsonc.Standard(&m.Value)) == "null" && on: // counts as absent
	case m != nil, !on && jsonc.Member(entry, "enabled") == nil:
		return jsonc.Set(text, append(at, "disabled"), boolean(!on))
	}
	return text, nil
}

func boolean(v bool) []byte { return fmt.Appendf(nil, "%t", v) }

// Rename is the change that gives a server another name, where it stands. A server that is not
// there, and a name that is taken in the same file, are errors.
func Rename(from, to string) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		at, found, err := serverPlace(text, from)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, noServer(from)
		}
		if _, taken, err := serverPlace(text, to); err != nil || taken {
			if err == nil {
				err = fmt.Errorf("server %q is defined already", to)
			}
			return nil, err
		}
		return jsonc.Rename(text, at, to)
	}
}

func noServer(name string) error { return fmt.Errorf("there is no server %q in this file", name) }
