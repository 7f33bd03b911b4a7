package document

import (
	"context"
	"html"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action document.get_outline, which returns the headings of a document.

type getOutlineArgs struct {
	ID      kernel.ID `json:"id" about:"document id" req:"true"`
	Preview bool      `json:"preview" about:"include the document's title" default:"false"`
}

// heading is a heading with its subheadings.
type heading struct {
	ID       kernel.ID `json:"id" about:"block id of the heading"`
	Level    int       `json:"level" about:"1 to 6"`
	Title    string    `json:"title" about:"its text"`
	Children []heading `json:"children,omitempty" about:"headings below it, in the same form"`
}

type getOutlineResult struct {
	ID           kernel.ID `json:"id" about:"document id"`
	Notebook     kernel.ID `json:"notebook" about:"notebook id"`
	Preview      bool      `json:"preview" about:"as given" verbose:"yes"`
	HeadingCount int       `json:"headingCount" about:"how many headings"`
	Outline      []heading `json:"outline" about:"headings, each with those below it in children"`
}

// getOutline returns the action get_outline of the tool document.
func getOutline() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "get_outline", Purpose: "Show the headings of a document as a tree",
		Guide: "The id of a heading works like any block id; the blocks under it are its children.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"outline/getDocOutline", "block/getBlockKramdowns", "query/sql"},
		Positional: []string{"id"},
		Result:     getOutlineResult{},
		Example:    `{"id":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a getOutlineArgs) (any, error) {
		t := r.Target("id")
		raw, err := r.Kernel.Outline(ctx, t.Root, a.Preview)
		if err != nil {
			return nil, err
		}
		tree, count := parseHeadings(gjson.ParseBytes(raw))
		if err := redactTitles(ctx, r, tree); err != nil {
			return nil, err
		}
		return getOutlineResult{t.Root, t.Notebook, a.Preview, count, tree}, nil
	})
}

// parseHeadings reads a list of the kernel's outline. The first level has its text in "name" and its children in
// "blocks", the other levels in "content" and "children".
func parseHeadings(list gjson.Result) (out []heading, count int) {
	out = []heading{}
	if !list.IsArray() { // null: no headings
		return out, 0
	}
	for _, v := range list.Array() {
		text := v.Get("content")
		below := v.Get("children")
		if v.Get("type").String() == "outline" {
			text, below = v.Get("name"), v.Get("blocks")
		}
		h := heading{ID: kernel.ID(v.Get("id").String()), Title: plainText(text.String())}
		h.Level, _ = strconv.Atoi(strings.TrimPrefix(v.Get("subType").String(), "h")) // 0 if unknown
		children, n := parseHeadings(below)
		if n > 0 {
			h.Children = children
		}
		out = append(out, h)
		count += n + 1
	}
	return out, count
}

// plainText converts a text of the outline, in which the kernel escapes HTML.
func plainText(text string) string {
	text = strings.ReplaceAll(html.UnescapeString(text), "\u00a0", " ")
	return strings.TrimSpace(content.Clean(text))
}

// redactTitles removes from headings the text of blocks that may not be read, which the kernel has copied into them.
func redactTitles(ctx context.Context, r *action.Request, tree []heading) error {
	var all []*heading
	var walk func([]heading)
	walk = func(list []heading) {
		for i := range list {
			all = append(all, &list[i])
			walk(list[i].Children)
		}
	}
	walk(tree)
	ids := make([]kernel.ID, len(all))
	for i, h := range all {
		ids[i] = h.ID
	}
	texts, err := content.PlainTexts(ctx, r, ids)
	for _, h := range all {
		if text, changed := texts[h.ID]; changed {
			h.Title = text
		}
	}
	return err
}
