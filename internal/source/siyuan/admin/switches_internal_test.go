package admin

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/tool"
)

func TestSwitching(t *testing.T) {
	t.Parallel()
	const off = `{"mascot":{"enabled":false,"actions":{"get_balance":false}},"tag":{"enabled":true,"actions":{"list":true,"remove":true}},` +
		`"flashcard":{"enabled":false,"actions":{"list_cards":true,"review_card":false}},"x":1}`
	for _, tt := range []struct {
		name string
		on   bool
		want map[string]any // members that differ, by path
	}{
		{name: "tag", want: map[string]any{"tag.enabled": false}},
		{name: "tag.remove", want: map[string]any{"tag.actions.remove": false}},
		{name: "mascot.get_balance", on: true, want: map[string]any{"mascot.enabled": true, "mascot.actions.get_balance": true}},
		{name: "flashcard.review_card", on: true, want: map[string]any{"flashcard.enabled": true, "flashcard.actions.review_card": true}},
		{name: "mascot.get-balance", on: true, want: map[string]any{"mascot.enabled": true, "mascot.actions.get_balance": true}},
		{name: "readOnlyTools", on: true, want: map[string]any{"readOnlyTools": true}},
		{name: "writeSafety.strictMode", on: true, want: map[string]any{"writeSafety.strictMode": true}},
		{name: "debug.slimResponses", want: map[string]any{"debug.slimResponses": false}},
	} {
		edit, err := switchEdit(tt.name, tt.on)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var raw map[string]any
		if err := json.Unmarshal([]byte(off), &raw); err != nil {
			t.Fatal(err)
		}
		before := paths(raw, "")
		if err := edit(raw); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		after := paths(raw, "")
		maps.DeleteFunc(after, func(k string, v any) bool { return before[k] == v })
		if diff := cmp.Diff(tt.want, after); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for name, near := range map[string]string{"tga": "tag", "tag.remve": "tag.remove", "readOnlyTool": "readOnlyTools", "": "", "tag.": ""} {
		if _, err := switchEdit(name, true); tool.KindOf(err) != tool.NotFound || near != "" && !strings.Contains(err.(*tool.Error).Hint, near) { //nolint:errorlint // it is made here
			t.Errorf("%q: %v", name, err)
		}
	}
}

// paths returns the leaves of an object by path.
func paths(v map[string]any, prefix string) map[string]any {
	out := map[string]any{}
	for k, m := range v {
		if o, ok := m.(map[string]any); ok {
			maps.Copy(out, paths(o, prefix+k+"."))
			continue
		}
		out[prefix+k] = m
	}
	return out
}

// Switching on a tool whose actions are all off turns on its default actions and no others.
func TestSwitchingAToolOn(t *testing.T) {
	t.Parallel()
	edit, err := switchEdit("notebook", true)
	if err != nil {
		t.Fatal(err)
	}
	raw := map[string]any{}
	if err := edit(raw); err != nil {
		t.Fatal(err)
	}
	got := paths(raw, "")
	if got["notebook.enabled"] != true || got["notebook.actions.list"] != true || got["notebook.actions.set_permission"] == true {
		t.Errorf("%v", got)
	}
}
