package kerneltest

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// transactionFamily answers /api/transactions and its core actions. Undo and redo are left out.
func transactionFamily(k *Kernel) {
	k.handle("/api/transactions", performTransactions)
	k.handleOperation("insert", insertOperation)
	k.handleOperation("appendInsert", func(k *Kernel, op *doOperation, _ gjson.Result) bool { return k.childOperation(op, true) })
	k.handleOperation("prependInsert", func(k *Kernel, op *doOperation, _ gjson.Result) bool { return k.childOperation(op, false) })
	k.handleOperation("update", updateOperation)
	k.handleOperation("delete", deleteOperation)
	k.handleOperation("move", moveOperation)
	k.handleOperation("setAttrs", setAttrsOperation)
	k.handleOperation("doUpdateUpdated", func(k *Kernel, op *doOperation, _ gjson.Result) bool {
		if b := k.openBlock(op.ID); b != nil {
			b.attrs["updated"], _ = op.Data.(string)
		}
		return true
	})
}

// performTransactions always answers the echo of the operations. A transaction in which one fails is rolled back.
func performTransactions(k *Kernel, req request) reply {
	list := req.needList("transactions")
	stamped := req.Get("reqId")
	if !stamped.Exists() {
		return fail(-1, "Field [reqId] is required")
	}
	answer := make([]map[string]any, 0, len(list))
	for _, tx := range list {
		undo := k.snapshot()
		ops := []doOperation{}
		good := true
		for _, raw := range tx.Get("doOperations").Array() {
			var op doOperation
			_ = json.Unmarshal([]byte(raw.Raw), &op)
			if do := k.operations[op.Action]; do != nil && good {
				good = do(k, &op, raw)
			}
			ops = append(ops, op)
		}
		if !good {
			undo()
		}
		echo := []doOperation{}
		for _, raw := range tx.Get("undoOperations").Array() {
			var op doOperation
			_ = json.Unmarshal([]byte(raw.Raw), &op)
			echo = append(echo, op)
		}
		answer = append(answer, map[string]any{"timestamp": stamped.Int(), "doOperations": ops, "undoOperations": echo})
	}
	return ok(answer)
}

// snapshot returns a function that puts the blocks of every document back as they are now.
func (k *Kernel) snapshot() (undo func()) {
	type saved struct {
		root *block
		copy *block
	}
	var all []saved
	for _, d := range k.documents {
		all = append(all, saved{d.root, cloneTree(d.root)})
	}
	return func() {
		for _, s := range all {
			k.forget(s.root)
			s.root.attrs, s.root.children = s.copy.attrs, s.copy.children
			k.register(s.root)
		}
	}
}

// cloneTree copies b and all below it, ids included.
func cloneTree(b *block) *block {
	c := *b
	c.attrs = map[string]string{}
	for name, value := range b.attrs {
		c.attrs[name] = value
	}
	c.children = make([]*block, len(b.children))
	for i, child := range b.children {
		c.children[i] = cloneTree(child)
		c.children[i].parent = &c
	}
	return &c
}

func insertOperation(k *Kernel, op *doOperation, _ gjson.Result) bool {
	data, _ := op.Data.(string)
	blocks := k.identify(parseDOM(data))
	if op.ID == "" {
		op.ID = blocks[0].id
	}
	next, previous, parent := k.openBlock(op.NextID), k.openBlock(op.PreviousID), k.openBlock(op.ParentID)
	switch {
	case next != nil && next.parent != nil:
		k.putBlocks(next.parent, next.index(), blocks)
	case previous != nil && previous.parent != nil:
		k.putBlocks(previous.parent, previous.index()+1, blocks)
	case parent != nil && parent.container():
		k.putBlocks(parent, 0, blocks)
	default:
		return false
	}
	return true
}

// childOperation is appendInsert and prependInsert, which are echoed as insert.
func (k *Kernel) childOperation(op *doOperation, last bool) bool {
	parent := k.openBlock(op.ParentID)
	if parent == nil || !parent.container() {
		return false
	}
	data, _ := op.Data.(string)
	*op = k.place("dom", data, parent, last)
	return true
}

func updateOperation(k *Kernel, op *doOperation, _ gjson.Result) bool {
	b := k.openBlock(op.ID)
	data, isText := op.Data.(string)
	if b == nil || !isText || b.kind == kindDocument {
		return false
	}
	k.update(b, "dom", data)
	return true
}

func deleteOperation(k *Kernel, op *doOperation, _ gjson.Result) bool {
	if b := k.openBlock(op.ID); b != nil && b.kind != kindDocument {
		k.detach(b, true)
		k.forget(b)
	}
	return true
}

func moveOperation(k *Kernel, op *doOperation, _ gjson.Result) bool {
	b, previous, parent := k.openBlock(op.ID), k.openBlock(op.PreviousID), k.openBlock(op.ParentID)
	switch {
	case b == nil || b.kind == kindDocument:
		return false
	case previous != nil:
		k.moveTo(b, previous, true)
	case parent != nil && parent.container():
		k.moveTo(b, parent, false)
	default:
		return false
	}
	return true
}

func setAttrsOperation(k *Kernel, op *doOperation, _ gjson.Result) bool {
	b := k.openBlock(op.ID)
	text, isText := op.Data.(string)
	if b == nil || !isText || !gjson.Valid(text) {
		return false
	}
	return k.setAttrs(b, gjson.Parse(text)) == ""
}
