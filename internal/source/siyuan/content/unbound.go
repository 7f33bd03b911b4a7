package content

import (
	"context"
	"regexp"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// The attributes of a block that is a row of databases: their ids, and their ids and names as HTML.
const (
	boundIDs   = "custom-avs"
	boundNames = "av-names"
)

var (
	boundAttr = regexp.MustCompile(`\s(?:` + boundIDs + `|` + boundNames + `)="[^"]*"`)
	// boundShown is how the editor's form shows the names below a block.
	boundShown = regexp.MustCompile(`(?s)<div class="protyle-attr--av">.*?</div>`)
)

// UnboundAttrs takes out of the attributes of a block which databases it is a row of, where some
// notebook may not be read: nothing says whose they are.
func UnboundAttrs(ctx context.Context, r *action.Request, attrs map[string]string) error {
	restricted, err := r.Levels.Restricted(ctx)
	if restricted {
		delete(attrs, boundIDs)
		delete(attrs, boundNames)
	}
	return err
}

// Unbound is [UnboundAttrs] for a text that attributes stand in, as kramdown or in the editor's
// form.
func Unbound(ctx context.Context, r *action.Request, text string) (string, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if restricted {
		text = boundAttr.ReplaceAllString(boundShown.ReplaceAllString(text, ""), "")
	}
	return text, err
}

// UnboundBlocks takes out of blocks the texts of databases, where some notebook may not be read: they are those of
// their rows, which may be blocks of any notebook.
func UnboundBlocks(ctx context.Context, r *action.Request, blocks []kernel.Block) error {
	restricted, err := r.Levels.Restricted(ctx)
	for i := range blocks {
		if restricted && blocks[i].Type == "av" {
			blocks[i].Content = ""
		}
	}
	return err
}
