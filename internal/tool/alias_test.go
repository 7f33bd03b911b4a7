package tool_test

import (
	"slices"
	"testing"

	"collie/internal/tool"
)

// ActionName maps common synonyms and spellings of a name to an action that exists, and otherwise returns the name.
func TestActionName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		has        []string
	}{
		{"ls", "list", []string{"list", "rename"}},
		{"list", "ls", []string{"ls", "mv", "rm"}},
		{"move", "mv", []string{"ls", "mv", "rm"}},
		{"DEL", "delete", []string{"delete", "insert"}},
		{"remove", "remove", []string{"delete", "remove"}},
		{"get-doc", "get_doc", []string{"get_doc"}},
		{"getDoc", "get_doc", []string{"get_doc"}},
		{" SetFoldState", "set_fold_state", []string{"set_fold_state"}},
		{"querySQL", "query_sql", []string{"query_sql"}},
		{"getDocs", "getDocs", []string{"get_doc"}},
		{"ls", "ls", []string{"tree"}},
		{"重命名", "重命名", []string{"rename"}},
	} {
		has := func(a string) bool { return slices.Contains(tt.has, a) }
		if got := tool.ActionName(tt.name, has); got != tt.want {
			t.Errorf("ActionName(%q) of %v is %q, want %q", tt.name, tt.has, got, tt.want)
		}
	}
}
