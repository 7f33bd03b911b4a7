package acceptance_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestResults checks the shapes of results: members that are rarely needed are in them only with verbose:true.
// [sdkClient.call] checks for every call of this package that text and structured content agree.
func TestResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, nobody)
		list := v.mustCall(t, "notebook", `{"action":"list"}`)
		names := stringsAt(list, "#.name")
		slices.Sort(names)
		if !slices.Equal(names, []string{"Reading", "Work"}) {
			t.Errorf("notebooks %s", names)
		}
		slim, verbose := list.Get("0"), v.mustCall(t, "notebook", `{"action":"list","verbose":true}`).Get("0")
		for _, member := range []string{"id", "name", "closed"} {
			if !slim.Get(member).Exists() {
				t.Errorf("a slim notebook lacks %s: %s", member, slim)
			}
		}
		for _, member := range []string{"icon", "sort", "flashcardCount"} {
			if slim.Get(member).Exists() || !verbose.Get(member).Exists() {
				t.Errorf("%s: slim %s, verbose %s", member, slim, verbose)
			}
		}
		read := v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`)
		if got := read.Get("content").String(); !strings.Contains(got, "咖啡") {
			t.Errorf("content %q", got)
		}
	})
}

// TestSlimIsSwitchable sets debug.slimResponses to false in the tool config: results keep the members that are rarely
// needed.
func TestSlimIsSwitchable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.File(ownFolder+configFile, []byte(`{"debug":{"slimResponses":false}}`))
	v := openSession(t, w.serve(t), modern, nobody)
	if got := v.mustCall(t, "notebook", `{"action":"list"}`); !got.Get("0.icon").Exists() {
		t.Errorf("not slimmed: %s", got.text)
	}
}

// TestResultCap makes results that are too long. They are cut between items, stay valid JSON and
// say what is missing.
func TestResultCap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 30 {
		w.Doc(w.work, fmt.Sprintf("/%s %02d", strings.Repeat("长", 100), i), "x")
	}
	long := w.Doc(w.work, "/Long", strings.Repeat("one more paragraph of about fifty characters here\n\n", 1500))
	small := newWorldOn(t, w, `"maxResultKB":4`)
	g, capped := w.serve(t), small.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, capped, version, nobody)
		got := v.mustCall(t, "fs", `{"action":"ls","path":"/Work"}`)
		whole := openSession(t, g, version, nobody).mustCall(t, "fs", `{"action":"ls","path":"/Work"}`)
		shown, all := got.Get("items").Array(), whole.Get("items").Array()
		if len(got.text) > 4<<10 || !got.Get("truncated").Bool() || got.Get("totalBytes").Int() != int64(len(whole.text)) {
			t.Errorf("%d bytes of %d: %.300s", len(got.text), len(whole.text), got.text)
		}
		if len(shown) == 0 || len(shown) >= len(all) || got.Get("path").String() != "/Work" {
			t.Errorf("%d of %d items", len(shown), len(all))
		}
		for i := range shown {
			if shown[i].Raw != all[i].Raw {
				t.Errorf("item %d is %s, want %s", i, shown[i], all[i])
			}
		}
		wantWords(t, "hint", got.Get("hint").String(), fmt.Sprintf("%d of %d", len(shown), len(all)))

		// A list at the top level, and a single item that is too long.
		top := v.mustCall(t, "notebook", `{"action":"list","verbose":true}`)
		if !top.IsArray() {
			t.Errorf("%.200s", top.text)
		}
		blocks := openSession(t, g, version, nobody).mustCall(t, "document", `{"action":"get_child_blocks","id":"`+long+`","pageSize":200,"verbose":true}`)
		if !gjson.Valid(blocks.text) {
			t.Error("not JSON")
		}
	})
}

// newWorldOn returns a world with the same kernel and notebooks as w, but other settings.
func newWorldOn(t *testing.T, w *world, members ...string) *world {
	t.Helper()
	other := *w
	other.settings = w.Settings(t, nil, w.siyuanSection(w.URL(), members...))
	return &other
}

// TestArgumentsOfAnObviousType gives arguments with types that models often confuse: numbers and booleans as strings,
// null for an absent value, and one item for a list.
func TestArgumentsOfAnObviousType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, nobody)
		plain := v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan","blockLimit":1,"includeBlockIds":true}`)
		for _, args := range []string{
			`{"action":"read","path":"/Work/Plan","blockLimit":"1","includeBlockIds":"true"}`,
			`{"action":"read","path":"/Work/Plan","blockLimit":1,"includeBlockIds":true,"tokenBudget":null}`,
		} {
			if got := v.mustCall(t, "fs", args); got.text != plain.text {
				t.Errorf("%s:\n%s\nwant\n%s", args, got.text, plain.text)
			}
		}
		if plain.Get("returnedBlocks").Int() != 1 && !strings.Contains(plain.text, "Goals") {
			t.Errorf("one block: %s", plain.text)
		}
		one := v.mustCall(t, "block", `{"action":"word_count","ids":"`+w.plan+`"}`)
		if list := v.mustCall(t, "block", `{"action":"word_count","ids":["`+w.plan+`"]}`); list.text != one.text {
			t.Errorf("one item for a list of one: %s, want %s", one.text, list.text)
		}
	})
}

// TestNamesOfActions calls actions by their other names.
func TestNamesOfActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, nobody)
		for _, same := range [][3]string{ // tool, arguments, the action's names
			{"notebook", `{}`, "list ls"},
			{"fs", `{"path":"/Work"}`, "ls list"},
			{"document", `{"id":"` + w.plan + `"}`, "get_child_blocks get-child-blocks"},
			{"block", `{"id":"` + w.plan + `"}`, "get_attrs get-attrs GET_ATTRS"},
		} {
			want := ""
			for name := range strings.FieldsSeq(same[2]) {
				var args map[string]any
				if err := json.Unmarshal([]byte(same[1]), &args); err != nil {
					t.Fatal(err)
				}
				args["action"] = name
				raw, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				got := v.mustCall(t, same[0], string(raw)).text
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s.%s: %s, want %s", same[0], name, got, want)
				}
			}
		}
		unknown := v.call(t, "fs", `{"action":"reed","path":"/Work/Plan"}`)
		if !unknown.failed || unknown.Get("error.code").String() != "unknown_action" || !slices.Contains(stringsAt(unknown, "error.validActions"), "read") ||
			!strings.Contains(unknown.Get("error.message").String(), `did you mean "read"?`) {
			t.Errorf("unknown action: %s", unknown.text)
		}
	})
}

// TestWrongArgumentsShowTheSignature makes mistakes: the error names the argument and shows how
// the action is called, and the kernel is asked for nothing that matters.
func TestWrongArgumentsShowTheSignature(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, nobody)
		for _, tt := range []struct{ tool, args, names, signature string }{
			{tool: "fs", args: `{"action":"read","pth":"/Work/Plan"}`, names: `"path"`, signature: "read(path"},                               // unknown, and the nearest
			{tool: "fs", args: `{"action":"read"}`, names: "path", signature: "read(path"},                                                    // missing
			{tool: "fs", args: `{"action":"read","path":"/Work/Plan","blockLimit":0}`, names: "blockLimit", signature: "read(path"},           // out of bounds
			{tool: "fs", args: `{"action":"read","path":"/Work/Plan","blockLimit":"many"}`, names: "blockLimit", signature: "read(path"},      // not of an obvious type
			{tool: "block", args: `{"action":"append","dataType":"word","data":"x","parentID":"x"}`, names: "dataType", signature: "append("}, // not in the list
		} {
			got := v.call(t, tt.tool, tt.args)
			if !got.failed || got.kind() != "validation_error" {
				t.Errorf("%s: %s", tt.args, got.text)
			}
			wantWords(t, tt.args, got.Get("error.message").String()+got.Get("error.fields").String(), tt.names)
			wantWords(t, tt.args, got.Get("error.hint").String()+got.Get("error.message").String(), tt.signature)
		}
		w.wantNoWrites(t)
	})
}
