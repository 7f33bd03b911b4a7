package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
)

// JSON returns the effective settings, defaults included, as canonical JSON (RFC 8785, except that integers
// keep all their digits). Server entries and the section siyuan are as written. Servers of an untrusted project
// are left out. Passwords in URLs, keys of providers and values of their headers read "***", unless they are
// references such as ${secret:NAME}.
func (c *Config) JSON() json.RawMessage {
	return canonical(c.fields().values())
}

// Digest identifies the effective settings, so that two processes can compare theirs. It is the hexadecimal
// SHA-256 of the settings that [Config.JSON] returns, of the values that it hides, of the inputs, and of the folders
// against which relative paths in server entries are resolved. The environment is not included.
func (c *Config) Digest() string {
	dirs := make(map[string]string, len(c.Servers))
	for _, s := range c.Servers {
		if !s.Untrusted {
			dirs[s.Name] = s.Dir
		}
	}
	sum := sha256.Sum256(canonical(map[string]any{
		"settings": c.fields().values(), "dirs": dirs, "inputs": c.Inputs, "shared": c.Cache.Shared,
		"endpoint": c.Telemetry.Endpoint, "providers": c.Providers, "notify": c.Guard.Notify, "registry": c.MCP.Registry, // their secrets are hidden in the settings
	}))
	return hex.EncodeToString(sum[:])
}

func canonical(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("config: settings do not encode: %v", err))
	}
	value := jsontext.Value(raw)
	err = value.Canonicalize(jsontext.CanonicalizeRawInts(false),
		// Even an invalid server entry must be distinguishable from others.
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(fmt.Sprintf("config: settings are not JSON: %v", err))
	}
	return json.RawMessage(value)
}

// Get returns the effective value at a path such as "http.addr" or a JSON pointer such as "/http/addr".
func (c *Config) Get(path string) (json.RawMessage, error) {
	names, err := SplitPath(path)
	if err != nil {
		return nil, err
	}
	root, err := hujson.Parse(c.JSON())
	if err != nil {
		panic(fmt.Sprintf("config: settings are not JSON: %v", err))
	}
	v := root.Find(jsonc.Join("", names...))
	if v == nil {
		return nil, fmt.Errorf("%w: %q", ErrNoSetting, path)
	}
	return jsonc.Standard(v), nil
}

// SplitPath splits the path of a setting into names. It accepts "a.b[1]" and JSON pointers such as "/a/b/1".
func SplitPath(path string) ([]string, error) {
	if strings.HasPrefix(path, "/") {
		return jsonc.Split(path), nil
	}
	names := strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
	if slices.Contains(names, "") {
		return nil, fmt.Errorf("%q is not a path of a setting; write one such as http.addr", path)
	}
	return names, nil
}
