package flashcard_test

import (
	"encoding/json"
	"slices"
	"testing"

	"collie/internal/source/siyuan/flashcard"
)

func TestToolHasTheActionsOfTheSpecification(t *testing.T) {
	t.Parallel()
	want := []string{"list_cards", "get_decks", "get_cards", "review_card", "create_card", "remove_card"}
	var got, dangerous, off []string
	common := 0
	for _, a := range flashcard.Tool().Actions {
		got = append(got, a.Name)
		if a.Dangerous {
			dangerous = append(dangerous, a.Name)
		}
		if a.Off {
			off = append(off, a.Name)
		}
		if a.Common {
			common++
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
			if len(p.About) > 60 {
				t.Errorf("%s.%s: about of %d characters", a.Name, p.Name, len(p.About))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("actions:\n got %v\nwant %v", got, want)
	}
	if want := []string{"remove_card"}; !slices.Equal(dangerous, want) {
		t.Errorf("dangerous: got %v, want %v", dangerous, want)
	}
	if len(off) > 0 {
		t.Errorf("off by default: %v, want none", off)
	}
	if common < 2 || common > 6 {
		t.Errorf("%d common actions", common)
	}
}
