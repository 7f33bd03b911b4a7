package content_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// For kramdown recorded from a real kernel, Visible returns the Markdown that the kernel listed for the same blocks.
func TestVisibleAgreesWithTheRecordedKernel(t *testing.T) {
	t.Parallel()
	var listed []string
	whole := ""
	for _, row := range kerneltest.Recordings(t) {
		if row.Scenario != "blocks_rich" {
			continue
		}
		body := gjson.ParseBytes(row.RespBody)
		switch row.Step {
		case "children":
			for _, b := range body.Get("data").Array() {
				listed = append(listed, b.Get("markdown").String())
			}
		case "kramdown":
			whole = body.Get("data.kramdown").String()
		}
	}
	if whole == "" || len(listed) < 20 {
		t.Fatalf("the recordings have %d blocks and %d bytes of kramdown", len(listed), len(whole))
	}
	if diff := cmp.Diff(strings.Join(listed, "\n\n"), content.Visible(whole)); diff != "" {
		t.Errorf("-listed +visible:\n%s", diff)
	}
}

// Visible removes the attribute lists from recorded kramdown, and Attributes reads them. Ids of blocks begin with the year; those of
// databases, and those in code, are not attributes of a block.
func TestVisibleRemovesRecordedAttributeLists(t *testing.T) {
	t.Parallel()
	n := 0
	for _, row := range kerneltest.Recordings(t) {
		if row.Path != "/api/block/getBlockKramdown" || row.RespBody == nil {
			continue
		}
		kramdown := gjson.GetBytes(row.RespBody, "data.kramdown").String()
		if kramdown == "" {
			continue
		}
		n++
		if text := content.Visible(kramdown); strings.Contains(text, `id="2`) && !strings.Contains(text, "data-av-id") && !strings.Contains(text, "```") {
			t.Errorf("%s: %q", row.Step, text)
		}
		if len(content.Attributes(kramdown)) == 0 {
			t.Errorf("%s: no attributes in %q", row.Step, kramdown)
		}
	}
	if n < 10 {
		t.Errorf("only %d recordings", n)
	}
}
