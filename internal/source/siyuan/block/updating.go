package block

import (
	"context"
	"fmt"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file does the work of update: it writes the new content and puts back what the kernel drops.

// updateRun replaces the content of blocks, all of them in one request. The kernel drops the attributes of a block whose
// content is replaced, and all blocks of the content but the first. So a run reads the old state, writes the new content,
// puts back what was dropped, and reads the result.
type updateRun struct {
	r     *action.Request
	items []updateItem
	param func(i int, member string) string

	before, after map[kernel.ID]string // kramdown
	out           []*updated
}

// run does all of it, in the order described above.
func (w *updateRun) run(ctx context.Context) ([]*updated, error) {
	ids := make([]kernel.ID, len(w.items))
	for i, item := range w.items {
		ids[i] = item.ID
	}
	in, err := w.recordAndPrepare(ctx, ids)
	if err != nil {
		return nil, err
	}
	doms, err := w.writeContent(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := w.restoreAttrs(ctx, ids); err != nil {
		return nil, err
	}
	for i := range w.out {
		if err := w.insertRest(ctx, w.out[i], doms[w.out[i].ID]); err != nil {
			return nil, err
		}
	}
	if w.after, err = w.r.Kernel.Kramdowns(ctx, ids, "md"); err != nil {
		return nil, err
	}
	for _, u := range w.out {
		u.Markdown = content.Visible(w.after[u.ID])
		u.addWarnings(warnOfLostAttrs(u.ID, w.before[u.ID], w.after[u.ID]))
	}
	return w.out, nil
}

// recordAndPrepare reads the present state of the blocks into the run, and returns their new content in the form to be written.
func (w *updateRun) recordAndPrepare(ctx context.Context, ids []kernel.ID) ([]kernel.Replacement, error) {
	k := w.r.Kernel
	nodes, err := k.Nodes(ctx, ids)
	if err != nil {
		return nil, err
	}
	if w.before, err = k.Kramdowns(ctx, ids, "md"); err != nil {
		return nil, err
	}
	attrs, err := k.BatchAttrs(ctx, ids)
	if err != nil {
		return nil, err
	}
	in := make([]kernel.Replacement, len(w.items))
	for i, item := range w.items {
		node, exists := nodes[item.ID]
		if !exists {
			return nil, access.NotFound(access.Block, string(item.ID))
		}
		text, err := w.adaptToPlace(w.param(i, "data"), &item, &node)
		if err != nil {
			return nil, err
		}
		keep := map[kernel.ID]bool{item.ID: true}
		for id := range content.Attributes(w.before[item.ID]) {
			keep[id] = true
		}
		data, warnings, err := prepareContent(ctx, w.r, item.DataType, text, item.ID, keep)
		if err != nil {
			return nil, err
		}
		in[i] = kernel.Replacement{ID: item.ID, BlockContent: data}
		u := &updated{ID: item.ID, DataType: item.DataType, attributes: attrs[item.ID]}
		u.addWarnings(warnings...)
		if node.Type == "NodeAttributeView" && !strings.Contains(data.Data, "NodeAttributeView") {
			u.Database = describeReplacedDatabase(w.before[item.ID])
		}
		w.out = append(w.out, u)
	}
	return in, nil
}

// adaptToPlace converts new content to a form that may stand where the block is: in place of a list item, to one list item.
func (w *updateRun) adaptToPlace(param string, item *updateItem, node *kernel.Node) (string, error) {
	s := insertionSpot{inList: node.ParentType == listNode}
	if s.inList {
		s.marker, _, _ = firstAndLastMarker(w.before[item.ID])
		if item.DataType == dataMarkdown && countItems(item.Data) > 1 {
			e := w.r.Invalid(param, fmt.Sprintf("has several list items, and %s is one", item.ID))
			e.Hint = fmt.Sprintf(`update it with one, and add the others with block(action="insert", previousID="%s", …)`, item.ID)
			return "", e
		}
	}
	return s.adaptData(w.r, param, item.DataType, item.Data)
}

// writeContent sends the new content and returns what the kernel made of it, as DOM by block.
func (w *updateRun) writeContent(ctx context.Context, in []kernel.Replacement) (map[kernel.ID]string, error) {
	done, err := content.Update(ctx, w.r.Kernel, in)
	if err != nil {
		return nil, err
	}
	doms := map[kernel.ID]string{}
	for _, t := range done {
		for _, op := range t.DoOperations {
			if op.Action == "update" {
				doms[op.ID] = kernel.DOMOf(op.Data)
			}
		}
	}
	for _, item := range in {
		if _, ok := doms[item.ID]; !ok {
			return nil, mismatchError(w.r, item.ID, fmt.Sprintf("the kernel accepted the update, and did nothing to block %s", item.ID))
		}
	}
	return doms, nil
}

// restoreAttrs puts back attributes that the update took away. Those that the content sets stay.
func (w *updateRun) restoreAttrs(ctx context.Context, ids []kernel.ID) error {
	now, err := w.r.Kernel.BatchAttrs(ctx, ids)
	if err != nil {
		return err
	}
	var lost []kernel.Attributes
	for _, u := range w.out {
		missing := map[string]string{}
		for key, value := range u.attributes {
			if isPersonsAttr(key) {
				u.AttrCount++
				if _, exists := now[u.ID][key]; !exists {
					missing[key] = value
				}
			}
		}
		if len(missing) > 0 {
			lost = append(lost, kernel.Attributes{ID: u.ID, Attrs: missing})
		}
		u.Updated, u.Preserved = now[u.ID]["updated"], true
	}
	switch len(lost) {
	case 0:
		return nil
	case 1:
		err = w.r.Kernel.SetAttrs(ctx, lost[0].ID, lost[0].Attrs)
	default:
		err = w.r.Kernel.BatchSetAttrs(ctx, lost)
	}
	if err != nil {
		return attrsLostError(w.r, lost, err)
	}
	if now, err = w.r.Kernel.BatchAttrs(ctx, ids); err != nil {
		return attrsLostError(w.r, lost, err)
	}
	for _, l := range lost {
		for key, value := range l.Attrs {
			if now[l.ID][key] != value {
				return attrsLostError(w.r, lost, nil)
			}
		}
	}
	return nil
}

// isPersonsAttr reports whether an attribute was set on the block, rather than being computed by the kernel.
func isPersonsAttr(key string) bool {
	switch key {
	case "id", "updated", "created", "type", "colgroup", "av-names":
		return false
	}
	return true
}

// attrsLostError returns the error for attributes that could not be put back. The error lists them.
func attrsLostError(r *action.Request, lost []kernel.Attributes, err error) error {
	e := mismatchError(r, lost[0].ID, "the content was replaced, and the attributes of the block could not all be put back")
	e.Err, e.Facts = err, map[string]any{"partial": true, "attributes": lost}
	e.Hint = `block(action="set_attrs", id=…, attrs=…) sets them again`
	return e
}

// insertRest puts all blocks of the content but the first, which the kernel has dropped, behind
// the block.
func (w *updateRun) insertRest(ctx context.Context, u *updated, dom string) error {
	blocks := kernel.ParseDOM(dom)
	if len(blocks) < 2 {
		return nil
	}
	rest := dom[blocks[1].Start:]
	done, err := w.r.Kernel.Insert(ctx, kernel.Insertion{
		BlockContent: kernel.BlockContent{DataType: dataDOM, Data: rest}, Anchor: kernel.Anchor{PreviousID: u.ID},
	})
	var ids [][]kernel.ID
	if err == nil {
		ids, err = completeInsertions(ctx, w.r, done)
	}
	if err != nil {
		return &tool.Error{
			Op: "call", Kind: tool.KindOf(err), Subject: name + ".update", Err: err, OutcomeUnknown: tool.KindOf(err) == kernel.OutcomeUnknown,
			Message: fmt.Sprintf("the first block of the content has replaced %s, the others could not be put behind it", u.ID),
			Hint:    fmt.Sprintf(`block(action="insert", previousID="%s", dataType="dom", data=…) adds what notWritten holds`, u.ID),
			Facts:   map[string]any{"partial": true, "notWritten": cutDOM(rest, maxDOM)},
		}
	}
	u.Created = ids[0]
	u.addWarnings(fmt.Sprintf("the content has %d blocks: the first took the place of %s, the others were put behind it", len(blocks), u.ID))
	return nil
}

// addWarnings adds warnings to those of the result.
func (u *updated) addWarnings(warnings ...string) {
	u.Warning = joinWarnings(append([]string{u.Warning}, warnings...))
}

// warnOfLostAttrs returns a warning about inner blocks that are gone and had attributes set by a person;
// empty if there are none.
func warnOfLostAttrs(id kernel.ID, before, after string) string {
	now, n := content.Attributes(after), 0
	for inner, attrs := range content.Attributes(before) {
		if _, exists := now[inner]; exists || inner == id {
			continue
		}
		for key := range attrs {
			if isPersonsAttr(key) && key != "fold" {
				n++
				break
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d blocks inside that had attributes were replaced, and their attributes are gone", n)
}

var avID = lazyregexp.New(`data-av-id="([^"]*)"`)

// describeReplacedDatabase describes what happened to the database that a block contained.
func describeReplacedDatabase(kramdown string) *databaseHint {
	out := &databaseHint{Hint: "a database stood here; the database itself is kept, this place does not show it any more"}
	if m := avID.FindStringSubmatch(kramdown); m != nil {
		out.AvID = m[1]
		out.Hint += fmt.Sprintf(`; av(action="render", id="%s") reads it`, m[1])
	}
	return out
}
