package acceptance_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/live"
)

// TestSmoke runs the smoke test of `make live` against the test kernel. Existing notebooks are not changed.
func TestSmoke(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.SetToken(true)
	theirs := k.Notebook("Theirs")
	doc := k.Doc(theirs, "/Diary", "private")
	live.Smoke(t, k.URL(), kerneltest.Token, live.Options{})
	for _, c := range k.Writes() {
		if s := c.Body; strings.Contains(s, theirs) || strings.Contains(s, doc) {
			t.Errorf("%s touches another notebook: %s", c.Path, s)
		}
	}
}
