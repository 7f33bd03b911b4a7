package arguments

import "testing"

func TestKebab(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"avID": "av-id", "parentId": "parent-id", "HTMLPage": "html-page", "notebook_id": "notebook-id",
		"a": "a", "ID": "id", "utf8Text": "utf8-text", "x-y": "x-y", "标题": "标题", "with space": "with-space", "": "",
	} {
		if got := Kebab(name); got != want {
			t.Errorf("kebab(%q) = %q, want %q", name, got, want)
		}
	}
}
