package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"collie/internal/jsonc"
)

// ErrNoSetting is the error of [Setting], [Unsetting] and [Config.Get] for a path that is not a setting.
var ErrNoSetting = errors.New("there is no such setting")

// Setting returns the change that writes one setting into a file. For path see [Config.Get]; value is
// standard JSON. If path is not a setting, the error matches [ErrNoSetting].
func Setting(path string, value json.RawMessage) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		names, err := settingPlace(text, path)
		if err != nil {
			return nil, err
		}
		out, err := jsonc.Set(text, names, value)
		if err != nil {
			return nil, err
		}
		for _, f := range check("", out) {
			if f.Rule == ruleUnknown && isOnPath(f.Pointer, names) {
				return nil, fmt.Errorf("%w: %q; %s", ErrNoSetting, path, f.Text())
			}
		}
		return out, nil
	}
}

// within reports whether one of names is on the path to a setting or inside its value.
func isOnPath(pointer string, names []string) bool {
	there := jsonc.Split(pointer)
	n := min(len(there), len(names))
	return slices.Equal(there[:n], names[:n])
}

// Unsetting returns the change that removes a setting from a file, so that its default applies. If the file
// does not have the setting, *found becomes false and nothing is written. If path can never be a setting, the
// error matches [ErrNoSetting].
func Unsetting(path string, found *bool) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		names, err := settingPlace(text, path)
		if err != nil {
			return nil, err
		}
		parsed, err := jsonc.Parse(text)
		if err != nil {
			return nil, err
		}
		if *found = parsed.Root().Find(jsonc.Join("", names...)) != nil; *found {
			return jsonc.Remove(text, names)
		}
		if _, err := defaultConfig(Paths{}).Get(path); err != nil {
			return nil, err
		}
		return text, nil
	}
}

// settingPlace converts the path of a setting to a path in a text; the place of a server depends on where the
// text has its servers.
func settingPlace(text []byte, path string) ([]string, error) {
	names, err := SplitPath(path)
	if err != nil {
		return nil, err
	}
	if len(names) > 1 && (names[0] == "mcpServers" || names[0] == "servers") {
		at, _, err := serverPlace(text, names[1])
		return append(at, names[2:]...), err
	}
	parsed, err := jsonc.Parse(text)
	if err != nil {
		return nil, err
	}
	if (node{&document{Document: parsed}, parsed.Root(), ""}).bare((&Config{}).fields()) {
		return nil, errors.New(`servers stand at the top of this file, where settings cannot stand beside them; put them under "mcpServers" first`)
	}
	return names, nil
}
