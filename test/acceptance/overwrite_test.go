package acceptance_test

import (
	"fmt"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// TestOverwrite overwrites documents with content that Markdown cannot express: each call is refused without a write.
// The tests of package fs cover all cases, such as documents of 10,001 blocks.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	other := w.Doc(w.reading, "/Other", "x")
	for name, tt := range map[string]struct{ markdown, kind string }{
		"name in a nested item": {"- a\n  - b\n    {: name=\"deep\"}", "structured_assets_overwrite_rejected"},
		"database in a quote":   {"> x\n>\n> <div data-type=\"NodeAttributeView\" data-av-id=\"20240101120000-abcdefg\" data-av-type=\"table\"></div>", "complex_blocks_not_supported_by_fs"},
		"referred to":           {"REFERRED", "structured_assets_overwrite_rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_ = other
			doc := w.Doc(w.work, "/"+name, tt.markdown)
			v := openSession(t, g, modern, nobody)
			if tt.markdown == "REFERRED" {
				block := v.mustCall(t, "document", `{"action":"get_child_blocks","id":"`+doc+`"}`).Get("data.0.id").String()
				w.Doc(w.reading, "/Refers", fmt.Sprintf("see ((%s 'it'))", block))
			}
			got := v.call(t, "fs", fmt.Sprintf(`{"action":"write","path":"/Work/%s","markdown":"gone","overwrite":true}`, name))
			if !got.failed || got.kind() != tt.kind && got.Get("error.code").String() != tt.kind {
				t.Errorf("want %s: %s", tt.kind, got.text)
			}
		})
	}
	t.Cleanup(func() { w.wantNoWrites(t) })
}

// TestOverwriteBlind: if the check of what would be lost fails, nothing is written.
func TestOverwriteBlind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := openSession(t, w.serve(t), legacy, nobody)
	w.Fail("/api/attr/batchGetBlockAttrs", 9, kerneltest.FailServer)
	if got := v.call(t, "fs", `{"action":"write","path":"/Work/Plan","markdown":"gone","overwrite":true}`); !got.failed {
		t.Errorf("%s", got.text)
	}
	w.wantNoWrites(t)
}
