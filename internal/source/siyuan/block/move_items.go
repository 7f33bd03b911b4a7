package block

import (
	"context"
	"fmt"
	"slices"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file moves list items to a place outside of lists, where they need a list around them.

// containers are the types of nodes that hold blocks of any kind.
var containers = []string{"NodeDocument", "NodeBlockquote", "NodeCallout", itemNode, superNode}

// needsNewList reports whether the blocks are list items that move to a place outside any list and so need a list around
// them. A kernel moves anything anywhere and so makes documents that no editor can show; therefore other blocks are
// refused inside a list.
func (a *moveArgs) needsNewList(r *action.Request, ids []kernel.ID, nodes map[kernel.ID]kernel.Node) (bool, error) {
	to := nodes[a.anchor()]
	listed := to.Type == listNode
	if a.PreviousID != "" {
		listed = to.ParentType == listNode
	}
	items := 0
	for _, id := range ids {
		item := nodes[id].Type == itemNode
		if item {
			items++
		}
		if listed && !item {
			e := r.Invalid(a.anchorParam(), fmt.Sprintf("means a place in a list, which holds items only, and %s is a %s", id, nodes[id].Type))
			e.Hint = fmt.Sprintf(`block(action="move", id="%s", parentID=…) puts it into an item of the list; of a list move the items`, id)
			return false, e
		}
	}
	if listed || items == 0 {
		return false, nil
	}
	if a.PreviousID == "" && !slices.Contains(containers, to.Type) {
		return false, notAContainerError(r, a.ParentID)
	}
	if items < len(ids) {
		e := r.Invalid(a.anchorParam(), "means a place outside of lists: items of lists and other blocks cannot go there together")
		e.Hint = "move the items of lists by themselves; they get a list around them"
		return false, e
	}
	return true, nil
}

// moveAsList moves list items into a new list, in a single transaction.
func moveAsList(ctx context.Context, r *action.Request, a *moveArgs, ids []kernel.ID) error {
	texts, err := r.Kernel.Kramdowns(ctx, ids[:1], "md")
	if err != nil {
		return err
	}
	list := kernel.NewID()
	first, _, _ := firstAndLastMarker(texts[ids[0]])
	insert := kernel.Operation{"action": "insert", "id": list, "data": emptyList(list, first.subtype())}
	if a.PreviousID != "" {
		insert["previousID"] = a.PreviousID
	} else {
		insert["parentID"] = a.ParentID
	}
	steps := []kernel.Operation{insert}
	for i, id := range ids {
		step := kernel.Operation{"action": "move", "id": id, "parentID": list}
		if i > 0 {
			step["previousID"] = ids[i-1]
		}
		steps = append(steps, step)
	}
	if _, err := r.Kernel.Transact(ctx, time.Now().UnixMilli(), steps...); err != nil {
		return err
	}
	if err := r.Kernel.Flush(ctx); err != nil {
		return err
	}
	a.PreviousID, a.ParentID = "", list // where they were moved
	return nil
}

// subtype returns the kind of list that an item with this marker is in.
func (m itemMarker) subtype() string {
	switch {
	case m.box != "":
		return "t"
	case m.number >= 0:
		return "o"
	}
	return "u"
}

// emptyList returns the DOM of a list without items.
func emptyList(id kernel.ID, subtype string) string {
	return fmt.Sprintf(`<div data-subtype="%s" data-node-id="%s" data-type="NodeList" class="list">`+
		`<div class="protyle-attr" contenteditable="false"></div></div>`, subtype, id)
}
