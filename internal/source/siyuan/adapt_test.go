package siyuan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
)

// actionOf returns an action of the tools.
func actionOf(t *testing.T, tool, name string) *action.Action {
	t.Helper()
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			if tl.Name == tool && a.Name == name {
				return a
			}
		}
	}
	t.Fatalf("there is no %s.%s", tool, name)
	return nil
}

// TestAdaptNames: arguments whose meaning is obvious are corrected, as a name in another spelling, or null for none; all others
// stay for the validation.
func TestAdaptNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, action, given, want string }{
		{"flashcard", "create_card", `{"block_ids":["a"]}`, `{"blockIDs":["a"]}`},
		{"flashcard", "create_card", `{"blockIds":["a"],"Deck-ID":"d"}`, `{"blockIDs":["a"],"deckID":"d"}`},
		{"flashcard", "create_card", `{"block_ids":["a"],"blockIDs":["b"]}`, `{"block_ids":["a"],"blockIDs":["b"]}`},
		{"flashcard", "create_card", `{"block_ids":["a"],"blockIds":["b"]}`, `{"blockIDs":["a"],"blockIds":["b"]}`},
		{"block", "append", `{"parentId":"p","data_type":"markdown","request_id":"r"}`, `{"parentID":"p","dataType":"markdown","requestId":"r"}`},
		{"fs", "read", `{"path":"/a","markdown":null,"edit":null,"blockStart":null}`, `{"path":"/a"}`},
		{"av", "set_cells", `{"id":"a","rowID":"r","keyID":"k"}`, `{"avID":"a","rowID":"r","columnID":"k"}`}, // as add_column calls it
		{"fs", "read", `{"path":null}`, `{}`},
		{"fs", "replace", `{"path":"/a","edit":{"old":"a","new":"b","replace_all":null}}`, `{"path":"/a","edit":{"old":"a","new":"b"}}`},
		{"fs", "replace", `{"path":"/a","edit":null,"old":"a","new":"b","replace_all":null}`, `{"path":"/a","edit":{"old":"a","new":"b","replace_all":false}}`},
		{"tag", "list", `{"query":null,"keyword":"a"}`, `{"query":"a"}`},
		{"av", "set_cells", `{"avID":null,"id":"a","value":null}`, `{"avID":"a"}`},
		{"av", "set_cells", `{"avID":"a","cells":[{"rowID":"r","value":null,"text":null}]}`, `{"avID":"a","cells":[{"rowID":"r","value":null}]}`},
		{"document", "set_attr", `{"id":"a","attrs":"{\"icon\":null}"}`, `{"id":"a","attrs":{"icon":null}}`},
		{"fs", "read", `{"path":"/a","paths":"/b"}`, `{"path":"/a","paths":"/b"}`},
	} {
		got := actionOf(t, tt.tool, tt.action).Adapt(json.RawMessage(tt.given), "")
		if diff := cmp.Diff(gjson.Parse(tt.want).Value(), gjson.ParseBytes(got).Value()); diff != "" {
			t.Errorf("%s.%s %s (-want +got):\n%s", tt.tool, tt.action, tt.given, diff)
		}
	}
}

// TestAdaptLeavesWhatIsRight: no argument of any action is mistaken for another.
func TestAdaptLeavesWhatIsRight(t *testing.T) {
	t.Parallel()
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			spellings := map[string]string{}
			for _, p := range a.Params() {
				key := strings.ToLower(strings.ReplaceAll(p.Name, "_", ""))
				if other, ok := spellings[key]; ok {
					t.Errorf("%s.%s: %s and %s are one name but for their spelling", a.Tool, a.Name, other, p.Name)
				}
				spellings[key] = p.Name
			}
			if got := string(a.Adapt(json.RawMessage(a.Example), "")); a.Spec.Adapt == nil && !cmp.Equal(gjson.Parse(got).Value(), gjson.Parse(a.Example).Value()) {
				t.Errorf("%s.%s: the example %s became %s", a.Tool, a.Name, a.Example, got)
			}
		}
	}
}
