package block

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action block.update, which replaces the content of blocks.

type updateItem struct {
	ID       kernel.ID `json:"id" about:"block" req:"true"`
	DataType string    `json:"dataType" about:"form of data" enum:"markdown,dom" req:"true"`
	Data     string    `json:"data" about:"its new content" req:"true"`
}

type updateArgs struct {
	ID       kernel.ID    `json:"id" about:"block, or document to overwrite"`
	DataType string       `json:"dataType" about:"form of data" enum:"markdown,dom"`
	Data     string       `json:"data" about:"its new content"`
	Items    []updateItem `json:"items" about:"several blocks, each once" min:"1" max:"100" unique:"id" list:"no"`
}

// updated is the outcome of an update for one block.
type updated struct {
	ID         kernel.ID         `json:"id" about:"the block"`
	DataType   string            `json:"dataType" about:"as given" verbose:"yes"`
	Markdown   string            `json:"markdown,omitempty" about:"its text now" verbose:"yes"`
	Updated    string            `json:"updated,omitempty" about:"when, as YYYYMMDDhhmmss"`
	Preserved  bool              `json:"attributesPreserved" about:"whether all its attributes are there" verbose:"yes"`
	AttrCount  int               `json:"preservedAttributeCount" about:"how many were put back" verbose:"yes"`
	Created    []kernel.ID       `json:"createdBlockIDs,omitempty" about:"blocks behind it, where the content had several"`
	Warning    string            `json:"warning,omitempty" about:"what else changed"`
	Database   *databaseHint     `json:"databaseBlock,omitempty" about:"where a database stood: avID and hint"`
	attributes map[string]string // to be there afterwards
}

type databaseHint struct {
	AvID string `json:"avID,omitempty"`
	Hint string `json:"hint"`
}

type updateResult struct {
	Success bool `json:"success" about:"true"`
	*updated
	Count int        `json:"count,omitempty" about:"blocks, where items was given"`
	Items []*updated `json:"items,omitempty" about:"the same members for each of items"`
}

// update returns the action update of the tool block.
func update() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "update",
		Purpose: "Replace the content of a block; its id and attributes stay",
		Guide: "Where the content has several blocks the first takes the block's place and the others are put behind it. A document " +
			"is overwritten as with fs write. For a small change of a long block use replace.",
		Common: true,
		Class:  action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite, Saves: action.SavesBlocks, AddsBlocks: true,
		Needs: []action.Need{action.OnBlock(access.Write, "id"), action.OnMembers(access.Write, "items", "id")},
		Endpoints: []string{
			"block/getBlockTreeInfos", "block/getBlockKramdowns", "block/getBlockKramdown", "block/getChildBlocks", "attr/batchGetBlockAttrs",
			"block/updateBlock", "block/batchUpdateBlock", "attr/setBlockAttrs", "attr/batchSetBlockAttrs", "block/insertBlock",
			"block/appendBlock", "block/deleteBlock", "transactions", "attr/getBlockAttrs", "query/sql", "sqlite/flushTransaction",
		},
		Result:  updateResult{},
		Example: `{"id":"20260102030405-abcdefg","dataType":"markdown","data":"new text"}`,
	}, runUpdate)
}

func runUpdate(ctx context.Context, r *action.Request, a updateArgs) (any, error) {
	items, err := a.itemsOf(r)
	if err != nil {
		return nil, err
	}
	targets := append(append([]action.Target{}, r.Targets("id")...), r.Targets("items")...)
	for i, t := range targets {
		if err := refuseNotebookPage(r, itemParam(&a, i, "id"), t); err != nil {
			return nil, err
		}
		if !isDocument(t) {
			continue
		}
		if len(items) > 1 {
			e := r.Invalid(itemParam(&a, i, "id"), fmt.Sprintf("%s is a document, which is overwritten alone", t.ID))
			e.Hint = fmt.Sprintf(`block(action="update", id="%s", dataType="markdown", data=…)`, t.ID)
			return nil, e
		}
		return overwriteDocument(ctx, r, t, items[0])
	}
	w := updateRun{r: r, items: items, param: func(i int, member string) string { return itemParam(&a, i, member) }}
	done, err := w.run(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		r.RefreshDocument(t.Root)
	}
	if len(a.Items) > 0 {
		return updateResult{Success: true, Count: len(done), Items: done}, nil
	}
	return updateResult{Success: true, updated: done[0]}, nil
}

// itemsOf returns the items of a call, whether one was given or several.
func (a *updateArgs) itemsOf(r *action.Request) ([]updateItem, error) {
	single := a.ID != "" || r.Given("data") || r.Given("dataType")
	switch {
	case single && len(a.Items) > 0:
		return nil, r.Conflicting("give id, dataType and data, or items, not both", "id", "items")
	case len(a.Items) > 0:
		return a.Items, nil
	case a.ID == "":
		return nil, r.Invalid("id", "is required, or items")
	case a.DataType == "":
		return nil, r.Invalid("dataType", "is required: markdown or dom")
	case !r.Given("data"):
		return nil, r.Invalid("data", "is required; \"\" empties the block")
	}
	return []updateItem{{a.ID, a.DataType, a.Data}}, nil
}

// itemParam returns the name of a member of an item for errors.
func itemParam(a *updateArgs, i int, member string) string {
	if len(a.Items) == 0 {
		return member
	}
	return fmt.Sprintf("items/%d/%s", i, member)
}

// overwriteDocument replaces the whole content of a document, because an update of a document's id
// does that. The protections are those of fs write.
func overwriteDocument(ctx context.Context, r *action.Request, doc action.Target, item updateItem) (any, error) {
	if item.DataType != dataMarkdown {
		return nil, r.Invalid("dataType", "must be markdown for a document")
	}
	data, warnings, err := prepareContent(ctx, r, item.DataType, item.Data, doc.ID, nil)
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
	out.addWarnings(warnings...)
	return updateResult{Success: true, updated: out}, nil
}
