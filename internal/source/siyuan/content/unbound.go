package content

import (
	"context"
	"regexp"

	"collie/internal/source/siyuan/action"
)

// The attributes of a block that is a row of databases: their ids, and their ids and names as HTML.
const (
	boundIDs   = "custom-avs"
	boundNames = "av-names"
)

var boundAttr = regexp.MustCompile(`\s(?:` + boundIDs + `|` + boundNames + `)="[^"]*"`)

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
		text = boundAttr.ReplaceAllString(text, "")
	}
	return text, err
}
