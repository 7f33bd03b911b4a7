package block_test

import (
	"encoding/json"
	"slices"
	"testing"

	"collie/internal/source/siyuan/block"
)

func TestToolHasTheActionsOfTheSpecification(t *testing.T) {
	t.Parallel()
	want := []string{
		"insert", "prepend", "append", "update", "replace", "delete", "move", "set_fold_state", "get_kramdown", "batch_kramdown",
		"get_children", "transfer_references", "set_attrs", "get_attrs", "info", "breadcrumb", "dom", "recent_updated",
		"word_count", "add_to_daily_note", "docs_info",
	}
	var got, dangerous, off, common []string
	for _, a := range block.Tool().Actions {
		got = append(got, a.Name)
		if a.Dangerous {
			dangerous = append(dangerous, a.Name)
		}
		if a.Off {
			off = append(off, a.Name)
		}
		if a.Common {
			common = append(common, a.Name)
		}
		if len(a.Purpose) > 90 {
			t.Errorf("%s: purpose of %d characters", a.Name, len(a.Purpose))
		}
		if len(a.Needs) == 0 && a.Unguarded == "" {
			t.Errorf("%s: neither needs a level nor says why not", a.Name)
		}
		var example map[string]any
		if err := json.Unmarshal([]byte(a.Example), &example); err != nil {
			t.Errorf("%s: example: %v", a.Name, err)
		}
		for name := range example {
			if a.Param(name) == nil {
				t.Errorf("%s: example has %q, which is no argument", a.Name, name)
			}
		}
		for _, p := range a.Params() {
			if len(p.About) > 100 {
				t.Errorf("%s.%s: about of %d characters", a.Name, p.Name, len(p.About))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("actions:\n got %v\nwant %v", got, want)
	}
	if want := []string{"delete", "move"}; !slices.Equal(dangerous, want) {
		t.Errorf("dangerous: got %v, want %v", dangerous, want)
	}
	if want := []string{"delete"}; !slices.Equal(off, want) {
		t.Errorf("off by default: got %v, want %v", off, want)
	}
	if len(common) < 2 || len(common) > 6 {
		t.Errorf("%d common actions: %v", len(common), common)
	}
}
