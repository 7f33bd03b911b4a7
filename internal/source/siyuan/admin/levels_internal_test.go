package admin

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"collie/internal/tool"
)

func TestNotebooksAreFoundByIDAndName(t *testing.T) {
	t.Parallel()
	all := []NotebookLevel{{ID: "1", Name: "工作"}, {ID: "2", Name: "Home"}, {ID: "3", Name: "home"}, {ID: "4", Name: "Twice"}, {ID: "5", Name: "Twice"}, {ID: "6", Name: "1"}}
	for given, want := range map[string]string{"工作": "1", "Home": "2", "home": "3", "2": "2", "1": "1", " 工作 ": "1"} {
		if got, err := FindNotebook(all, given); err != nil || got.ID != want {
			t.Errorf("%q is %v, %v, want %s", given, got, err, want)
		}
	}
	for given, kind := range map[string]tool.ErrorKind{"Twice": tool.Ambiguous, "HOME": tool.Ambiguous, "none": tool.NotFound, "": tool.NotFound} {
		if got, err := FindNotebook(all, given); tool.KindOf(err) != kind {
			t.Errorf("%q is %v, %v, want %s", given, got, err, kind)
		}
	}
}

// A change that may have been made is on record, as one whose outcome is unknown; one that was not made is not.
func TestChangesOfUnknownOutcomeAreOnRecord(t *testing.T) {
	t.Parallel()
	detail := map[string]any{"to": "rwd"}
	for name, tt := range map[string]struct {
		err  error
		want map[string]any
	}{
		"made":    {nil, detail},
		"held":    {fmt.Errorf("set: %w", ErrLevelHeld), detail},
		"unknown": {fmt.Errorf("set: %w", &tool.Error{OutcomeUnknown: true}), map[string]any{"to": "rwd", "outcome": "unknown"}},
		"refused": {&tool.Error{Kind: tool.Denied}, nil},
		"other":   {errors.New("no"), nil},
	} {
		got, ok := OnRecord(detail, tt.err)
		if ok != (tt.want != nil) || !maps.Equal(got, tt.want) {
			t.Errorf("%s: OnRecord() = %v, %t, want %v", name, got, ok, tt.want)
		}
	}
	if len(detail) != 1 {
		t.Errorf("the detail of the caller has become %v", detail)
	}
}
