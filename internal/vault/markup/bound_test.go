package markup_test

import (
	"strings"
	"testing"
	"time"

	"collie/internal/vault/markup"
	"collie/test/await"
)

// TestDeepDOMAndManyMarksAreBounded parses texts for which lute would take quadratic time. They become plain text, quickly.
func TestDeepDOMAndManyMarksAreBounded(t *testing.T) {
	t.Parallel()
	start := time.Now()
	deep := markup.ParseDOM(strings.Repeat("<div>", 50_000) + "kept" + strings.Repeat("</div>", 50_000))
	if len(deep) != 1 || !strings.Contains(deep[0].Text, "kept") {
		t.Errorf("%d blocks", len(deep))
	}
	if got := markup.Parse(strings.Repeat("$", 200_000) + " kept"); len(got) != 1 || !strings.Contains(got[0].Text, "kept") {
		t.Errorf("%d blocks", len(got))
	}
	if got := markup.Parse(strings.Repeat("&", 200_000) + " kept"); len(got) != 1 || !strings.Contains(got[0].Text, "kept") {
		t.Errorf("%d blocks", len(got))
	}
	if got := markup.ParseDOM(strings.Repeat("&amp;", 200_000) + " kept"); len(got) != 1 || !strings.Contains(got[0].Text, "kept") {
		t.Errorf("%d blocks", len(got))
	}
	await.Within(t, "all of it", time.Since(start), 25*time.Second)
}
