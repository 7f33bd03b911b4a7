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

// JSON is the effective settings, defaults in place, as canonical JSON (RFC 8785, but whole
// numbers keep all their digits). Server entries are in it as their author wrote them, those of
// a project that is not trusted excepted; a password in cache.shared or telemetry.endpoint reads
// "***", and so does a key of a provider, or a value of its headers, that does not refer elsewhere.
func (c *Config) JSON() json.RawMessage {
	return canonical(c.fields().values())
}

// Digest identifies the effective settings, so that two processes can tell whether they run
// with the same ones: the hexadecimal SHA-256 of [Config.JSON] and the folders that relative
// paths in server entries start from. The environment is not in it.
func (c *Config) Digest() string {
	dirs := make(map[string]string, len(c.Servers))
	for _, s := range c.Servers {
		if !s.Untrusted {
			dirs[s.Name] = s.Dir
		}
	}
	sum := sha256.Sum256(canonical(map[string]any{
		"settings": c.fields().values(), "dirs": dirs, "inputs": c.Inputs, "shared": c.Cache.Shared,
		"endpoint": c.Telemetry.Endpoint, "providers": c.Providers, // whose secrets the settings hide
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
		// A server entry may be wrong, and is told apart all the same.
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(fmt.Sprintf("config: settings are not JSON: %v", err))
	}
	return json.RawMessage(value)
}

// Get returns the effective value at a path such as "http.addr", or at a JSON pointer such as
// "/http/addr".
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

// SplitPath is the names in the path of a setting: "a.b[1]", or a JSON pointer such as "/a/b/1".
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
