package vault_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"collie/internal/vault"
	"collie/internal/vault/vaulttest"
)

// TestWrongFields sends recorded requests with one field left out or of another type. A handler that reads a wrong field goes
// on with the zero value before the request fails. So this test also shows that no handler breaks on zero values.
func TestWrongFields(t *testing.T) {
	t.Parallel()
	file, ids := smallVault(t)
	path := filepath.Join(t.TempDir(), "vault.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	v := vault.New(path, vault.Options{Log: vaulttest.Log(t)})
	t.Cleanup(func() { _ = v.Close() })
	endpoints := vault.Endpoints()
	slices.Sort(endpoints)
	sent := map[string]bool{}
	for _, endpoint := range endpoints {
		for _, body := range recordedBodies(t, endpoint, ids) {
			for _, wrong := range withWrongFields(body) {
				if !sent[endpoint+wrong] {
					sent[endpoint+wrong] = true
					sendAndCheck(t, v, endpoint, wrong)
				}
			}
		}
	}
	if len(sent) < 3000 {
		t.Errorf("only %d requests", len(sent))
	}
	w, err := v.Workspace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantSound(t, w)
}

// withWrongFields returns variants of the object in body: in each, one member is left out or has another value, mostly of
// another type.
func withWrongFields(body string) (wrong []string) {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &object) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		for _, other := range []string{"", "7", `"x"`, "true", "null", "[]", "{}", `[7,{}]`} {
			changed := maps.Clone(object)
			if changed[name] = json.RawMessage(other); other == "" {
				delete(changed, name)
			}
			raw, err := json.Marshal(changed)
			if err != nil {
				panic(fmt.Sprintf("%s does not encode: %v", body, err))
			}
			wrong = append(wrong, string(raw))
		}
	}
	return wrong
}
