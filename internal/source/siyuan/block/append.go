package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions block.append and block.prepend, which add content inside a document or container block.

type childArgs struct {
	DataType string    `json:"dataType" about:"form of data" enum:"markdown,dom" req:"true"`
	Data     string    `json:"data" about:"content; may be several blocks" req:"true"`
	ParentID kernel.ID `json:"parentID" about:"document or container block" req:"true"`
}

// appendTo returns the action append of the tool block.
func appendTo() *action.Action {
	return childAction(action.Spec{
		Name: "append", Purpose: "Add content at the end of a document or container block", Common: true,
		Endpoints: []string{"block/appendBlock", "block/insertBlock", "block/getBlockTreeInfos", "block/getChildBlocks", "block/getBlockKramdowns"},
	}, last, (*kernel.Client).Append)
}

// childAction returns an action that inserts content into a parent with put.
func childAction(
	spec action.Spec, at side, put func(*kernel.Client, context.Context, kernel.ID, string, string) ([]kernel.Transaction, error),
) *action.Action {
	spec.Tool, spec.Class, spec.Risk, spec.Effects = name, action.Creates, tool.RiskLow, tool.EffectWrite
	spec.Guide = "A heading holds nothing: insert behind it instead. New blocks get new ids. References are written ((id 'text'))."
	spec.Needs = []action.Need{action.OnBlock(access.Write, "parentID")}
	spec.Result, spec.AddsBlocks = insertResult{}, true
	spec.Example = `{"dataType":"markdown","data":"a paragraph","parentID":"20260102030405-abcdefg"}`
	verb := spec.Name
	return action.New(spec, func(ctx context.Context, r *action.Request, a childArgs) (any, error) {
		parent := r.Target("parentID")
		if err := refuseNotebookPage(r, "parentID", parent); err != nil {
			return nil, err
		}
		place, _, err := spotAt(ctx, r, a.ParentID, at)
		if err != nil {
			return nil, err
		}
		text, err := place.adaptData(r, "data", a.DataType, a.Data)
		if err != nil {
			return nil, err
		}
		data, warnings, err := prepareContent(ctx, r, a.DataType, text, "", nil)
		if err != nil {
			return nil, err
		}
		done, err := put(r.Kernel, ctx, a.ParentID, data.DataType, data.Data)
		if err != nil {
			return nil, explainLeafParent(r, a.ParentID, err)
		}
		ids, err := completeInsertions(ctx, r, done)
		if err != nil {
			return nil, err
		}
		r.RefreshDocument(parent.Root)
		out := insertResult{
			Success: true, Action: verb, ParentID: a.ParentID, DataType: a.DataType,
			Transactions: done, Warning: joinWarnings(warnings),
		}
		for _, list := range ids {
			out.Created = append(out.Created, list...)
		}
		out.ID = out.Created[0]
		return out, nil
	})
}

// prepend returns the action prepend of the tool block.
func prepend() *action.Action {
	return childAction(action.Spec{
		Name: "prepend", Purpose: "Add content at the beginning of a document or container block",
		Endpoints: []string{"block/prependBlock", "block/insertBlock", "block/getBlockTreeInfos", "block/getChildBlocks", "block/getBlockKramdowns"},
	}, first, (*kernel.Client).Prepend)
}
