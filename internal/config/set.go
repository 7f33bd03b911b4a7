package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collie/internal/jsonc"
)

// This file changes single settings in the text of a file.

// ErrNoSetting is the error of [Setting], [Unsetting] and [Config.Get] for a path that is not a setting.
var ErrNoSetting = errors.New("there is no such setting")

// Setting returns the change that writes one setting into a file. For path see [Config.Get]; value is
// standard JSON. If path is not a setting, the error matches [ErrNoSetting].
func Setting(path string, value json.RawMessage) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		names, err := pathInText(text, path)
		if err != nil {
			return nil, err
		}
		out, err := jsonc.Set(text, names, value)
		if err != nil {
			return nil, err
		}
		for _, f := range findProblems("", out) {
			if f.Rule == ruleUnknown && isOnPath(f.Pointer, names) {
				return nil, fmt.Errorf("%w: %q; %s", ErrNoSetting, path, f.Text())
			}
		}
		return out, nil
	}
}

// isOnPath reports whether the value at pointer is the setting that names lead to, encloses it, or is inside it.
func isOnPath(pointer string, names []string) bool {
	segments := jsonc.Split(pointer)
	n := min(len(segments), len(names))
	return slices.Equal(segments[:n], names[:n])
}

// Pointer returns a path of a setting whose names may have dots in them.
func Pointer(names ...string) string {
	r := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, n := range names {
		b.WriteString("/" + r.Replace(n))
	}
	return b.String()
}

// Unsetting returns the change that removes a setting from a file, so that its default applies. If the file
// does not have the setting, *found becomes false and nothing is written. If path can never be a setting, the
// error matches [ErrNoSetting].
func Unsetting(path string, found *bool) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		names, err := pathInText(text, path)
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

// pathInText converts the path of a setting to a path in a text; the place of a server depends on where the
// text has its servers.
func pathInText(text []byte, path string) ([]string, error) {
	names, err := SplitPath(path)
	if err != nil {
		return nil, err
	}
	if len(names) > 1 && (names[0] == "mcpServers" || names[0] == "servers") {
		at, _, err := serverPathInText(text, names[1])
		return append(at, names[2:]...), err
	}
	parsed, err := jsonc.Parse(text)
	if err != nil {
		return nil, err
	}
	root := node{&document{Document: parsed}, parsed.Root(), ""}
	if looksLikeServer(root.value) {
		return nil, errBareEntry
	}
	if root.isBareList((&Config{}).fields()) {
		return nil, errors.New(`servers are at the top level of this file, where it cannot have settings beside them; put them under "mcpServers" first`)
	}
	return names, nil
}
