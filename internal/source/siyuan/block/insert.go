package block

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions of the tool block that insert blocks at a place.

type anchorArgs struct {
	NextID     kernel.ID `json:"nextID" about:"put it before this block" list:"yes"`
	PreviousID kernel.ID `json:"previousID" about:"put it after this block" list:"yes"`
	ParentID   kernel.ID `json:"parentID" about:"put it first into this document or container"`
}

func (a anchorArgs) isEmpty() bool { return a == anchorArgs{} }

type insertItem struct {
	DataType string `json:"dataType" about:"form of data" enum:"markdown,dom" req:"true"`
	Data     string `json:"data" about:"content" req:"true"`
	anchorArgs
}

type insertArgs struct {
	DataType string `json:"dataType" about:"form of data" enum:"markdown,dom"`
	Data     string `json:"data" about:"content; may be several blocks"`
	anchorArgs
	Blocks []insertItem `json:"blocks" about:"several insertions; the anchors beside it are for those that have none" min:"1" max:"200"`
}

type insertResult struct {
	Success      bool                 `json:"success" about:"true"`
	Action       string               `json:"action" about:"of this tool" verbose:"yes"`
	ID           kernel.ID            `json:"id,omitempty" about:"the first new block"`
	ParentID     kernel.ID            `json:"parentID,omitempty" about:"as given" verbose:"yes"`
	PreviousID   kernel.ID            `json:"previousID,omitempty" about:"as given" verbose:"yes"`
	NextID       kernel.ID            `json:"nextID,omitempty" about:"as given" verbose:"yes"`
	DataType     string               `json:"dataType,omitempty" about:"as given" verbose:"yes"`
	Count        int                  `json:"count,omitempty" about:"insertions, where several were given"`
	Created      []kernel.ID          `json:"createdBlockIDs" about:"all new blocks, in order"`
	Transactions []kernel.Transaction `json:"transactions" about:"the kernel's answer" verbose:"yes"`
	Warning      string               `json:"warning,omitempty" about:"references that could not be resolved, and the like"`
}

// insert returns the action insert of the tool block.
func insert() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "insert",
		Purpose: "Insert content before, after or first into a block",
		Guide: "One anchor is needed: nextID counts before previousID, that before parentID. New blocks get new ids, whatever ids " +
			"the content has. References are written ((id 'text')).",
		Class: action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite, AddsBlocks: true,
		Needs:     []action.Need{action.On(access.Write, "every anchor", "", anchorTargets)},
		Endpoints: []string{"block/insertBlock", "block/batchInsertBlock", "block/getBlockTreeInfos", "block/getBlockKramdowns", "block/getChildBlocks"},
		Result:    insertResult{},
		Example:   `{"dataType":"markdown","data":"a paragraph","previousID":"20260102030405-abcdefg"}`,
	}, runInsert)
}

// insertions returns the items of a call, each with its anchor. A single insertion becomes one item.
func (a *insertArgs) insertions(r *action.Request) ([]insertItem, error) {
	items := a.Blocks
	single := r.Given("data") || r.Given("dataType")
	switch {
	case single && len(items) > 0:
		return nil, r.Conflicting("give data or blocks, not both", "data", "blocks")
	case len(items) == 0 && !r.Given("data"):
		return nil, r.Invalid("data", "is required, or blocks")
	case len(items) == 0 && a.DataType == "":
		return nil, r.Invalid("dataType", "is required: markdown or dom")
	case len(items) == 0:
		items = []insertItem{{DataType: a.DataType, Data: a.Data}}
	}
	out := make([]insertItem, len(items))
	for i, item := range items {
		if item.isEmpty() {
			item.anchorArgs = a.anchorArgs
		}
		if item.isEmpty() {
			return nil, r.Conflicting("an anchor is needed: nextID, previousID or parentID", anchorPointers(len(a.Blocks) > 0, i)...)
		}
		out[i] = item
	}
	return out, nil
}

// dataParam returns the name of the content of an insertion for errors.
func dataParam(several bool, i int) string {
	if several {
		return fmt.Sprintf("blocks/%d/data", i)
	}
	return "data"
}

// anchorPointers returns the names of the anchors of an insertion for errors.
func anchorPointers(several bool, i int) []string {
	at := ""
	if several {
		at = fmt.Sprintf("blocks/%d/", i)
	}
	return []string{at + "nextID", at + "previousID", at + "parentID"}
}

// anchorTargets returns all anchors of a call. It refuses a call without one, before the gate asks a person.
func anchorTargets(ctx context.Context, r *action.Request) ([]action.Target, error) {
	var a insertArgs
	if err := json.Unmarshal(r.Args(), &a); err != nil {
		return nil, r.Invalid("blocks", err.Error())
	}
	items, err := a.insertions(r)
	if err != nil {
		return nil, err
	}
	var out []action.Target
	for _, item := range items {
		for _, id := range []kernel.ID{item.NextID, item.PreviousID, item.ParentID} {
			if id == "" {
				continue
			}
			t, err := r.Place(ctx, access.Block, string(id))
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
	}
	return out, nil
}

func runInsert(ctx context.Context, r *action.Request, a insertArgs) (any, error) {
	items, err := a.insertions(r)
	if err != nil {
		return nil, err
	}
	in, warnings, err := prepareInsertions(ctx, r, items, len(a.Blocks) > 0)
	if err != nil {
		return nil, err
	}
	order := sendOrder(in)
	send := make([]kernel.Insertion, len(in))
	for n, i := range order {
		send[n] = in[i]
	}
	var done []kernel.Transaction
	if len(a.Blocks) > 0 {
		done, err = r.Kernel.BatchInsert(ctx, send)
	} else {
		done, err = r.Kernel.Insert(ctx, send[0])
	}
	if err != nil {
		return nil, explainLeafParent(r, in[0].ParentID, err)
	}
	ids, err := completeInsertions(ctx, r, done)
	if err != nil {
		return nil, err
	}
	for _, t := range r.AllTargets() {
		r.RefreshDocument(t.Root)
	}
	out := insertResult{Success: true, Action: "insert", Transactions: done, Warning: joinWarnings(warnings)}
	if len(ids) == len(order) {
		asGiven := make([][]kernel.ID, len(ids))
		for n, i := range order {
			asGiven[i] = ids[n]
		}
		ids = asGiven
	}
	for _, list := range ids {
		out.Created = append(out.Created, list...)
	}
	out.ID = out.Created[0]
	if len(a.Blocks) > 0 {
		out.Count = len(items)
		return out, nil
	}
	out.NextID, out.PreviousID, out.ParentID, out.DataType = a.NextID, a.PreviousID, a.ParentID, a.DataType
	return out, nil
}

// prepareInsertions prepares items for writing at their places. It also returns warnings for the caller.
func prepareInsertions(ctx context.Context, r *action.Request, items []insertItem, several bool) (in []kernel.Insertion, warnings []string, err error) {
	type found struct {
		insertionSpot
		anchorArgs
	}
	places := map[anchorArgs]found{}
	for i, item := range items {
		if err := checkAnchors(ctx, r, item.anchorArgs); err != nil {
			return nil, nil, err
		}
		place, known := places[item.anchorArgs]
		if !known {
			if place.insertionSpot, place.anchorArgs, err = spotAtAnchor(ctx, r, item.anchorArgs); err != nil {
				return nil, nil, err
			}
			places[item.anchorArgs] = place
		}
		text, err := place.adaptData(r, dataParam(several, i), item.DataType, item.Data)
		if err != nil {
			return nil, nil, err
		}
		data, notes, err := prepareContent(ctx, r, item.DataType, text, "", nil)
		if err != nil {
			return nil, nil, err
		}
		in = append(in, kernel.Insertion{BlockContent: data, Anchor: kernel.Anchor(place.anchorArgs)})
		warnings = append(warnings, notes...)
	}
	return in, warnings, nil
}

// sendOrder returns the order in which to send insertions, so that those with the same anchor end up in the given
// order. Each is placed directly after its anchor, or first inside it, so the last one is sent first. Insertions
// before an anchor are sent in the given order.
func sendOrder(in []kernel.Insertion) []int {
	var out []int
	for i := range slices.Backward(in) {
		if in[i].NextID == "" {
			out = append(out, i)
		}
	}
	for i := range in {
		if in[i].NextID != "" {
			out = append(out, i)
		}
	}
	return out
}

// checkAnchors refuses places where the kernel would write nothing, or where the content would be invisible.
func checkAnchors(ctx context.Context, r *action.Request, a anchorArgs) error {
	for _, anchor := range []struct {
		param string
		id    kernel.ID
	}{{"nextID", a.NextID}, {"previousID", a.PreviousID}, {"parentID", a.ParentID}} {
		if anchor.id == "" {
			continue
		}
		t, err := r.Place(ctx, access.Block, string(anchor.id))
		if err != nil {
			return err
		}
		if anchor.param == "parentID" {
			err = refuseNotebookPage(r, anchor.param, t)
		} else {
			err = refuseDocument(r, anchor.param, t, fmt.Sprintf(`block(action="append", parentID="%s", …) adds at its end`, t.ID))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
