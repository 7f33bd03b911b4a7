package block

import (
	"context"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// overwriteDocument replaces all that is in a document, which is what an update of its id does,
// with the same protections as fs write has.
func overwriteDocument(ctx context.Context, r *action.Request, doc action.Target, item updateItem) (any, error) {
	if item.DataType != dataMarkdown {
		return nil, r.Invalid("dataType", "must be markdown for a document")
	}
	data, warnings, err := prepare(ctx, r, item.DataType, item.Data, doc.ID, nil)
	if err != nil {
		return nil, err
	}
	if err := content.Overwrite(ctx, r, doc, data.Data); err != nil {
		return nil, err
	}
	attrs, err := r.Kernel.Attrs(ctx, doc.ID)
	if err != nil {
		return nil, err
	}
	now, err := r.Kernel.ChildBlocks(ctx, doc.ID)
	if err != nil {
		return nil, err
	}
	r.RefreshDocument(doc.ID)
	out := &updated{
		ID: doc.ID, DataType: item.DataType, Markdown: content.Clean(data.Data), Updated: attrs["updated"],
		Preserved: true, Created: []kernel.ID{}, // the document's own attributes are not touched
	}
	for _, b := range now {
		out.Created = append(out.Created, b.ID)
	}
	out.warn(warnings...)
	return updateResult{Success: true, updated: out}, nil
}
