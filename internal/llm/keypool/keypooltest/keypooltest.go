// Package keypooltest has the tests that every [keypool.Store], which keeps the state of API keys, must pass.
package keypooltest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/llm/keypool"
)

// TestStore runs the suite. Each call of open opens the same store anew, so that it has only what was saved.
func TestStore(t *testing.T, open func() keypool.Store) {
	t.Helper()
	at := time.Date(2026, 9, 1, 12, 0, 0, 123_456_789, time.UTC)
	rests := keypool.Rest{State: keypool.Cooling, Level: 3, Since: at, Until: at.Add(time.Hour), Hint: at.Add(time.Minute), Why: "429 慢一点"}
	one := keypool.KeyState{
		Provider: "p", Label: "a", Rest: rests, Models: []keypool.ModelState{{Model: "m", Rest: rests}, {Model: "型号", Rest: rests}},
		LastUsed: at, Status: 429, Successes: 7, Errors: 1 << 40, Fingerprint: "abc",
	}
	two := keypool.KeyState{Provider: "p", Label: "b", Rest: keypool.Rest{State: keypool.Invalid, Why: "401"}}
	three := keypool.KeyState{Provider: "提供商", Label: "", Rest: keypool.Rest{State: keypool.Active}}
	bound := []keypool.Binding{{Provider: "p", Session: "01", Label: "a", Used: at}, {Provider: "p", Session: "02", Label: "b", Used: at}}

	wantStored := func(what string, want keypool.Saved) {
		t.Helper()
		got, err := open().Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		keys, bindings := map[string]keypool.KeyState{}, map[string]keypool.Binding{}
		for _, k := range want.Keys {
			keys[k.Provider+"/"+k.Label] = k
		}
		for _, b := range want.Bindings {
			bindings[b.Session] = b
		}
		gotKeys, gotBindings := map[string]keypool.KeyState{}, map[string]keypool.Binding{}
		for _, k := range got.Keys {
			gotKeys[k.Provider+"/"+k.Label] = k
		}
		for _, b := range got.Bindings {
			gotBindings[b.Session] = b
		}
		if len(got.Keys) != len(gotKeys) || len(got.Bindings) != len(gotBindings) {
			t.Errorf("%s: a row is there twice: %+v", what, got)
		}
		if diff := cmp.Diff(keys, gotKeys); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(bindings, gotBindings); diff != "" {
			t.Errorf("%s: bindings (-want +got):\n%s", what, diff)
		}
	}
	save := func(s keypool.Saved) {
		t.Helper()
		if err := open().Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	wantStored("empty", keypool.Saved{})
	save(keypool.Saved{Keys: []keypool.KeyState{one, two, three}, Bindings: bound})
	wantStored("saved", keypool.Saved{Keys: []keypool.KeyState{one, two, three}, Bindings: bound})
	one.Models, one.Level = nil, 4
	bound[0].Label = "b"
	save(keypool.Saved{Keys: []keypool.KeyState{one}, Bindings: bound[:1]})
	wantStored("changed", keypool.Saved{Keys: []keypool.KeyState{one, two, three}, Bindings: bound})
	two.Gone, bound[1].Gone = true, true
	save(keypool.Saved{Keys: []keypool.KeyState{two}, Bindings: bound[1:]})
	wantStored("gone", keypool.Saved{Keys: []keypool.KeyState{one, three}, Bindings: bound[:1]})
	save(keypool.Saved{})
	wantStored("nothing new", keypool.Saved{Keys: []keypool.KeyState{one, three}, Bindings: bound[:1]})
}
