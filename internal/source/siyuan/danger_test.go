package siyuan_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/guide"
)

// dangerous lists the actions that a person confirms, by tool. A new one may surprise users who have given an agent a
// free hand, and a missing one does harm, so the list is fixed here.
var dangerous = map[string]string{
	"fs":        "mv rm",
	"notebook":  "remove set_permission",
	"document":  "move remove doc_to_heading heading_to_doc",
	"block":     "delete move transfer_references",
	"av":        "remove_column remove_rows",
	"file":      "delete_asset remove_unused_assets upload_asset extract_doc rename_asset",
	"search":    "find_replace",
	"tag":       "remove rename",
	"system":    "workspace_info",
	"flashcard": "remove_card",
	"timeline":  "rollback_document",
}

func TestDangerousActions(t *testing.T) {
	t.Parallel()
	want, got := map[string][]string{}, map[string][]string{}
	for name, actions := range dangerous {
		want[name] = slices.Sorted(slices.Values(strings.Fields(actions)))
	}
	forEachDangerous(func(a *action.Action) { got[a.Tool] = append(got[a.Tool], a.Name) })
	for _, actions := range got {
		slices.Sort(actions)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dangerous actions (-want +got):\n%s", diff)
	}
}

// The instructions name each dangerous action that is on, by the first word of its name, and no others.
func TestInstructionsNameDangerousActions(t *testing.T) {
	t.Parallel()
	list := regexp.MustCompile(`(?s)Dangerous actions \(([^)]*)\)`).FindStringSubmatch(guide.Instructions)
	if list == nil {
		t.Fatal("the instructions have no list of dangerous actions")
	}
	named := map[string]bool{} // by tool and first word, whether a dangerous action has them
	for group := range strings.SplitSeq(list[1], ";") {
		name, actions, _ := strings.Cut(strings.TrimSpace(group), " ")
		for short := range strings.SplitSeq(actions, ",") {
			named[name+" "+strings.TrimSpace(short)] = false
		}
	}
	forEachDangerous(func(a *action.Action) {
		first, _, _ := strings.Cut(a.Name, "_")
		for _, words := range []string{a.Tool + " " + a.Name, a.Tool + " " + first} {
			if _, ok := named[words]; ok {
				named[words] = true
				return
			}
		}
		if !a.Off {
			t.Errorf("%s.%s is dangerous and on, and the instructions do not name it", a.Tool, a.Name)
		}
	})
	for words, isAction := range named {
		if !isAction {
			t.Errorf("the instructions call %q dangerous, which no action is", words)
		}
	}
}

// Each tool's description names the dangerous actions that it lists, and no others: a model sees neither annotations
// nor, in many clients, the instructions.
func TestDescriptionsMarkDangerousActions(t *testing.T) {
	t.Parallel()
	marked := regexp.MustCompile(`(?m)^Dangerous: (.+)$`)
	for _, def := range gjson.GetBytes(groupedToolList(t), "tools").Array() {
		name := def.Get("name").String()
		var want []string
		for _, tl := range siyuan.Tools() {
			for _, a := range tl.Actions {
				switch {
				case tl.Name != name || a.Off || a.DirectOnly:
				case a.Dangerous:
					want = append(want, a.Name)
				case a.DangerousWith != "":
					want = append(want, a.Name+" with "+a.DangerousWith)
				}
			}
		}
		var got []string
		if line := marked.FindStringSubmatch(def.Get("description").String()); line != nil {
			got = strings.Split(line[1], ", ")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s marks as dangerous (-want +got):\n%s", name, diff)
		}
	}
	d := newFixture(t)
	for _, tl := range d.source.Offer().Tools {
		for _, a := range tl.Actions {
			if says := strings.Contains(gjson.GetBytes(a.Definition, "description").String(), " A person confirms it"); says != (a.Dangerous || a.DangerousWith != "") {
				t.Errorf("%s.%s: its own description says that a person confirms it: %t", tl.Name, a.Name, says)
			}
		}
	}
}

// forEachDangerous calls f for each action that a person confirms, whatever its arguments.
func forEachDangerous(f func(*action.Action)) {
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			if a.Dangerous {
				f(a)
			}
		}
	}
}
