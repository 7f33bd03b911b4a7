package content_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/block"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// TestRedact: if a notebook is hidden, a block does not tell of which databases it is a row, nor a database what its
// rows say. The texts are as written by kernel 3.7.3.
func TestRedact(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	open, hidden := kit.Notebook("Open"), kernel.ID(kit.Notebook("Hidden"))
	doc := kit.Doc(open, "/Doc", "text")
	const dom = `<div data-type="NodeParagraph" custom-avs="SECRET" av-names="&lt;span&gt;SECRET&lt;/span&gt;" updated="1"><div>plain</div>` +
		`<div class="protyle-attr" contenteditable="false"><div class="protyle-attr--av"><svg><use></use></svg><span data-av-id="SECRET">SECRET</span></div></div></div>`
	for _, level := range []access.Level{access.Read, access.None} {
		kit.Levels[hidden] = level
		r := kit.Request(t, actiontest.Find(t, block.Tool(), "dom"), actiontest.Args("id", doc))
		got, err := content.Redact(t.Context(), r, dom)
		if err != nil || strings.Contains(got, "SECRET") != (level == access.Read) || !strings.Contains(got, "plain") || !strings.HasSuffix(got, "</div></div>") {
			t.Errorf("at %s: %q, %v", level, got, err)
		}
		blocks := []kernel.Block{{Type: "av", Content: "SECRET"}, {Type: "p", Content: "plain"}}
		if err := content.RedactBlocks(t.Context(), r, blocks); err != nil {
			t.Fatal(err)
		}
		if (blocks[0].Content == "") != (level == access.None) || blocks[1].Content != "plain" {
			t.Errorf("at %s: blocks %+v", level, blocks)
		}
	}
}
