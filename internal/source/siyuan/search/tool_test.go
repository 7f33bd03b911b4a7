package search_test

import (
	"encoding/json"
	"slices"
	"testing"

	"collie/internal/source/siyuan/search"
)

func TestToolHasTheActionsOfTheSpecification(t *testing.T) {
	t.Parallel()
	want := []string{
		"fulltext", "query_sql", "get_backlinks", "search_refs", "find_replace", "search_assets", "fulltext_asset_content", "list_invalid_refs",
	}
	var got, dangerous, common []string
	for _, a := range search.Tool().Actions {
		got = append(got, a.Name)
		if a.Dangerous {
			dangerous = append(dangerous, a.Name)
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
	if !slices.Equal(dangerous, []string{"find_replace"}) {
		t.Errorf("dangerous: %v", dangerous)
	}
	if len(common) < 2 || len(common) > 6 {
		t.Errorf("%d common actions: %v", len(common), common)
	}
}
