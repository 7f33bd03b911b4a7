package admin

import (
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
