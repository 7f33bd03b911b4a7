package admin

import (
	"context"
	"encoding/json"

	"collie/internal/config"
	"collie/internal/rawjson"
	secretadmin "collie/internal/secret/admin"
)

// SaveProvider returns an edit of a settings file that saves a provider.
func SaveProvider(p *config.Provider) func(text []byte) ([]byte, error) {
	out := struct {
		Kind    string          `json:"kind"`
		BaseURL string          `json:"baseURL,omitempty"`
		Keys    json.RawMessage `json:"keys,omitempty"`
	}{Kind: p.Kind, BaseURL: p.BaseURL}
	if len(p.Keys) > 0 {
		out.Keys = keysJSON(p.Keys)
	}
	raw, _ := json.Marshal(out) // cannot fail: strings and valid JSON
	return config.Setting(config.Pointer("providers", p.Name), raw)
}

// SaveKeys returns an edit of a settings file that saves the keys of a provider.
func SaveKeys(p *config.Provider) func(text []byte) ([]byte, error) {
	return config.Setting(config.Pointer("providers", p.Name, "keys"), keysJSON(p.Keys))
}

// keysJSON encodes keys for the settings, without members that have their default.
func keysJSON(keys []config.ProviderKey) json.RawMessage {
	out := make([]json.RawMessage, len(keys))
	for i, k := range keys {
		var o rawjson.Object
		put := func(name string, value any) {
			raw, _ := json.Marshal(value) // strings and numbers
			o.Add(rawjson.Quote(name), raw)
		}
		put("label", k.Label)
		put("secret", k.Secret)
		if k.Weight != 1 {
			put("weight", k.Weight)
		}
		if len(k.Models) > 0 {
			put("models", k.Models)
		}
		if !k.Enabled {
			put("enabled", false)
		}
		out[i] = o.Bytes()
	}
	raw, _ := json.Marshal(out) // cannot fail: valid JSON
	return raw
}

// SecretName returns the name of the secret that holds a key.
func SecretName(provider, label string) string { return "provider_" + provider + "_" + label }

// StoreKey stores a key as a secret, and returns how the settings refer to it.
func StoreKey(ctx context.Context, cfg *config.Config, provider, label, key string) (form string, err error) {
	name := SecretName(provider, label)
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		return "", err
	}
	return "${secret:" + name + "}", store.Set(ctx, name, key)
}

// DeleteKey deletes the secret of a key, if [StoreKey] made it.
func DeleteKey(ctx context.Context, cfg *config.Config, provider string, k *config.ProviderKey) error {
	name := SecretName(provider, k.Label)
	if k.Secret != "${secret:"+name+"}" {
		return nil
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		return err
	}
	return store.Delete(ctx, name)
}
