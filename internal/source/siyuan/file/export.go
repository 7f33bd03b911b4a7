package file

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// exported is the document of a target as Markdown, with nothing in it from notebooks that may
// not be read. The user's settings can have the kernel copy what references point to, and it
// always copies what embedded queries find and what the rows of databases say. So where a notebook
// is hidden, references become links, a document with such blocks is refused, and one with an
// anchor that is the text of a block which may not be read is put together here: in the kernel's
// export nothing tells where such an anchor begins.
func exported(ctx context.Context, r *action.Request, t action.Target) (kernel.Markdown, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return kernel.Markdown{}, err
	}
	var veil *content.Veil
	var kramdown string
	if restricted {
		if err := noCollections(ctx, r, t); err != nil {
			return kernel.Markdown{}, err
		}
		if kramdown, err = r.Kernel.Kramdown(ctx, t.Root); err != nil {
			return kernel.Markdown{}, err
		}
		if veil, err = content.NewVeil(ctx, r, kramdown); err != nil {
			return kernel.Markdown{}, err
		}
	}
	md, err := r.Kernel.ExportMarkdown(ctx, t.Root, restricted)
	if err != nil {
		return kernel.Markdown{}, err
	}
	if veil.Covers(kramdown) {
		md.Content = withFront(md.Content, veil.Text(kramdown))
	}
	if md.HPath == "" && md.Content == "" { // how the kernel says that there is no such document
		return kernel.Markdown{}, &tool.Error{
			Op: "export", Kind: tool.API, Code: kernel.CodeNoEffect, Subject: string(t.Root), Message: "the kernel exported nothing",
			Hint: `fs(action="read") and document(action="get_doc") show the document`, Facts: map[string]any{"reason": kernel.CodeNoEffect},
		}
	}
	md.Content = content.Clean(md.Content)
	return md, nil
}

// withFront puts the front matter and the title of an export before a text of notes, with references as links.
func withFront(exported, kramdown string) string {
	const fence = "---\n"
	front := ""
	if rest, found := strings.CutPrefix(exported, fence); found {
		if matter, after, found := strings.Cut(rest, "\n"+fence); found {
			front = fence + matter + "\n" + fence + "\n"
			if line, _, _ := strings.Cut(strings.TrimLeft(after, "\n"), "\n"); strings.HasPrefix(line, "# ") {
				front += line + "\n\n"
			}
		}
	}
	return front + strings.TrimSpace(content.Linked(kramdown)) + "\n"
}

// noCollections refuses a document with what queries find in all notebooks, or with a database.
func noCollections(ctx context.Context, r *action.Request, t action.Target) error {
	rows, err := kernel.SQL[struct{ Type string }](ctx, r.Kernel,
		"SELECT DISTINCT type FROM blocks WHERE root_id="+kernel.Quote(string(t.Root))+" AND type IN ('query_embed', 'av') ORDER BY type DESC LIMIT 2")
	if err != nil || len(rows) == 0 {
		return err
	}
	out := &tool.Error{
		Op: "check", Kind: tool.Denied, Subject: t.Subject,
		Message: "the document embeds what queries find in all notebooks, and not every notebook may be read",
		Hint:    `fs(action="read") and document(action="get_doc") show the document with the queries themselves`,
		Facts:   map[string]any{"reason": "embedded_queries"},
	}
	if rows[0].Type == "av" {
		out.Message = "the document has a database, whose rows may be blocks of any notebook, and not every notebook may be read"
		out.Hint = `fs(action="read") and document(action="get_doc") show the document without its rows, av(action="render") shows the database`
		out.Facts = map[string]any{"reason": "databases"}
	}
	return out
}
