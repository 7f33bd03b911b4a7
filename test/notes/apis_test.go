package notes_test

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/upstream/modelapi"
)

// TestListFitsAPIs checks the tool lists of all views, with every action switched on, against the limits that the
// APIs of language models document. Each list is checked in the form in which that API gets it.
func TestListFitsAPIs(t *testing.T) {
	t.Parallel()
	r := newGateway(t, newWorkspace(t, layout{}))
	for profile, least := range map[string]int{"": 11, "@grouped": 11, "@search": 3, "@flat": 105} {
		raw, _ := r.catalog.List(t.Context(), "tools", profile)
		tools := gjson.GetBytes(raw, "tools").Array()
		if len(tools) < least {
			t.Errorf("%q: %d tools, want at least %d", profile, len(tools), least)
		}
		for _, a := range modelapi.APIs() {
			if a.Tools > 0 && len(tools) > a.Tools {
				t.Errorf("%q: %d tools, %s takes at most %d", profile, len(tools), a.Name, a.Tools)
			}
			for _, def := range tools {
				name := def.Get("name").String()
				for _, b := range a.Check(name, json.RawMessage(def.Raw)) {
					t.Errorf("%q: %s%s: %s, which %s does not take", profile, name, b.At, b.Limit, a.Name)
				}
			}
		}
	}
}

// list returns the definitions of the tools that clients get.
func (r *gateway) list(t *testing.T) []gjson.Result {
	t.Helper()
	raw, _ := r.catalog.List(t.Context(), "tools", "")
	return gjson.GetBytes(raw, "tools").Array()
}
