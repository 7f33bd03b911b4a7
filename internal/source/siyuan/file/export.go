package file

import (
	"context"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// exported is the document of a target as Markdown, with nothing in it from notebooks that may
// not be read. The user's settings can have the kernel copy what references point to, and it
// always copies what embedded queries find. So where a notebook is hidden, references become
// links, and a document with such queries is refused.
func exported(ctx context.Context, r *action.Request, t action.Target) (kernel.Markdown, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return kernel.Markdown{}, err
	}
	if restricted {
		if err := noQueries(ctx, r, t); err != nil {
			return kernel.Markdown{}, err
		}
	}
	md, err := r.Kernel.ExportMarkdown(ctx, t.Root, restricted)
	if err != nil {
		return kernel.Markdown{}, err
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

// noQueries refuses a document that embeds what a query finds.
func noQueries(ctx context.Context, r *action.Request, t action.Target) error {
	rows, err := kernel.SQL[struct{ ID kernel.ID }](ctx, r.Kernel,
		"SELECT DISTINCT id FROM blocks WHERE root_id="+kernel.Quote(string(t.Root))+" AND type='query_embed' LIMIT 1")
	if err != nil || len(rows) == 0 {
		return err
	}
	return &tool.Error{
		Op: "check", Kind: tool.Denied, Subject: t.Subject,
		Message: "the document embeds what queries find in all notebooks, and not every notebook may be read",
		Hint:    `fs(action="read") and document(action="get_doc") show the document with the queries themselves`,
		Facts:   map[string]any{"reason": "embedded_queries"},
	}
}
