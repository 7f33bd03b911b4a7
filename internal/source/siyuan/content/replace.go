package content

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file replaces exact texts in blocks and documents.

// Replaced is the result of [Replace]. Its JSON is that of fs.replace and block.replace.
type Replaced struct {
	Changed      bool           `json:"changed" about:"something is different now"`
	EditsApplied int            `json:"editsApplied" about:"how many edits were made"`
	Replacements []Replacements `json:"replacements" about:"{index, replaced, replace_all} of each edit"`
	// ChangedBlocks are the blocks that were written.
	ChangedBlocks []kernel.ID `json:"changedBlocks" about:"ids of the blocks that were written" verbose:"yes"`
	// Created are the new blocks that follow those.
	Created []kernel.ID `json:"createdBlockIDs,omitempty" about:"blocks that were inserted, where a text became several"`
	// AttributesPreserved says that attributes were compared before and after the write.
	AttributesPreserved bool           `json:"attributesPreserved" about:"attributes were checked afterwards" verbose:"yes"`
	SkippedBlocks       []ComplexBlock `json:"skippedComplexBlocks,omitempty" about:"blocks that are not text and were not searched"`
	Warning             string         `json:"warning,omitempty" about:"what that means"`
	RecommendedTools    []string       `json:"recommendedTools,omitempty" about:"what handles them"`
	Warnings            []string       `json:"warnings,omitempty" about:"what became of references"`
}

// Replacements says how often an edit was made.
type Replacements struct {
	Index    int  `json:"index"`
	Replaced int  `json:"replaced"`
	All      bool `json:"replace_all"`
}

// Replace makes exact edits in a few blocks; [ReplaceDocument] makes them in a whole document. subject is what the
// caller named, for errors. Edits are made in order in the text that [Visible] shows, each within one block, and all
// are found and checked before anything is written. Blocks keep their ids and attributes, inner blocks included. A
// paragraph that becomes several keeps its id for the first.
//
// Nothing is written and an error is returned if a text does not occur, occurs more than once without All, spans the
// end of a block, is in a block that is not text ([isNotText]), or if an edit would touch attributes. The caller has
// checked the level.
func Replace(ctx context.Context, r *action.Request, subject string, blocks []kernel.Block, edits Edits) (Replaced, error) {
	known, err := r.Kernel.Kramdowns(ctx, blockIDs(blocks), "md")
	if err != nil {
		return Replaced{}, err
	}
	return replace(ctx, r, editor{subject: subject}, blocks, known, edits)
}

// ReplaceDocument is like [Replace], but edits a whole document.
func ReplaceDocument(ctx context.Context, r *action.Request, doc action.Target, edits Edits) (Replaced, error) {
	blocks, err := r.Kernel.ChildBlocks(ctx, doc.ID)
	if err != nil {
		return Replaced{}, err
	}
	known, err := kramdownOf(ctx, r.Kernel, doc.ID, blocks, blocks, 0, len(blocks))
	if err != nil {
		return Replaced{}, err
	}
	return replace(ctx, r, editor{subject: doc.Subject, doc: doc.ID}, blocks, known, edits)
}

// replace is like Replace, for blocks whose kramdown is known.
func replace(
	ctx context.Context, r *action.Request, e editor, blocks []kernel.Block, known map[kernel.ID]string, edits Edits,
) (Replaced, error) {
	read := slices.Collect(maps.Values(known))
	for _, edit := range edits {
		read = append(read, edit.New)
	}
	redactor, err := NewRedactor(ctx, r, read...)
	if err != nil {
		return Replaced{}, err
	}
	for _, b := range blocks {
		if kramdown, ok := known[b.ID]; ok {
			e.blocks = append(e.blocks, newEditedBlock(b, kramdown, redactor))
		}
	}
	out := Replaced{Replacements: []Replacements{}, ChangedBlocks: []kernel.ID{}}
	for i, edit := range edits {
		with, warnings, err := normalize(ctx, r, edit.New)
		if err != nil {
			return Replaced{}, err
		}
		for _, w := range warnings {
			out.Warnings = appendNew(out.Warnings, w)
		}
		n, err := e.apply(i, Edit{Clean(edit.Old), ProtectCode(with), edit.All})
		if err != nil {
			return Replaced{}, err
		}
		out.Replacements = append(out.Replacements, Replacements{i, n, edit.All})
		out.EditsApplied++
	}
	for _, p := range e.blocks {
		if p.skipped != "" {
			out.SkippedBlocks = append(out.SkippedBlocks, ComplexBlock{p.block.ID, p.skipped})
		}
	}
	if len(out.SkippedBlocks) > 0 {
		out.Warning = "blocks that are not plain text were not searched"
		out.RecommendedTools = recommendedActions(out.SkippedBlocks)
	}
	out.ChangedBlocks, err = e.write(ctx, r)
	for _, w := range e.warnings {
		out.Warnings = appendNew(out.Warnings, w)
	}
	out.Created = e.created
	out.Changed = len(out.ChangedBlocks) > 0
	out.AttributesPreserved = err == nil
	return out, err
}

// editor holds the blocks that are edited.
type editor struct {
	subject string
	doc     kernel.ID // the document to which all of them belong; empty for a selection of blocks
	blocks  []*editedBlock

	created  []kernel.ID // blocks that write has inserted
	warnings []string
}

// match is an occurrence of the old text within one block.
type match struct {
	block    *editedBlock
	from, to int
}

// apply makes one edit in the blocks and returns how many occurrences it replaced.
func (e *editor) apply(index int, edit Edit) (int, error) {
	if edit.Old == "" {
		return 0, e.editError(index, tool.Invalid, "empty_old", "old must not be empty", "give the text that is to be replaced")
	}
	if len(outsideCode(edit.New, anyList)) > 0 || len(outsideCode(edit.Old, anyList)) > 0 {
		return 0, e.editError(index, tool.Conflicting, "attributes", "attribute lists {: …} cannot be edited as text",
			`block(action="set_attrs") changes attributes`)
	}
	found, err := e.findMatches(index, edit.Old)
	if err != nil {
		return 0, err
	}
	if len(found) > 1 && !edit.All {
		return 0, e.editError(index, tool.Conflicting, "several_matches",
			fmt.Sprintf("the old text occurs %d times", len(found)), "make old longer, so that it is unique, or give replace_all=true")
	}
	for _, m := range slices.Backward(found) {
		if why := m.block.replace(m.from, m.to, edit.New); why != "" {
			return 0, e.editError(index, tool.Conflicting, "attributes", string(why),
				`edit the lines one by one, or use block(action="update")`)
		}
	}
	return len(found), nil
}

// findMatches returns all occurrences. It fails if there are none, or if one cannot be edited.
func (e *editor) findMatches(index int, old string) ([]match, error) {
	var whole strings.Builder
	starts := make([]int, len(e.blocks))
	for i, p := range e.blocks {
		if i > 0 {
			whole.WriteString("\n\n")
		}
		starts[i] = whole.Len()
		whole.WriteString(p.text())
	}
	text := whole.String()
	var out []match
	for at := 0; ; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		from := at + i
		at = from + len(old)
		n, exact := slices.BinarySearch(starts, from)
		if !exact {
			n--
		}
		// An empty block begins at the same offset as the next one; the match is in the last of them.
		for n+1 < len(starts) && starts[n+1] <= from {
			n++
		}
		p := e.blocks[n]
		switch {
		case at > starts[n]+len(p.text()):
			return nil, e.editError(index, tool.Conflicting, "block_boundary", "the old text reaches over the end of a block",
				"make one edit for each block")
		case p.skipped != "":
			return nil, e.editError(index, tool.Conflicting, "complex_block",
				fmt.Sprintf("the old text is in block %s, which is not plain text but of type %s", p.block.ID, p.skipped),
				strings.Join(recommendedActions([]ComplexBlock{{p.block.ID, p.skipped}}), " or ")+" handles such blocks")
		}
		out = append(out, match{p, from - starts[n], at - starts[n]})
	}
	if len(out) == 0 {
		return nil, e.editError(index, tool.NotFound, "text_not_found", "the old text does not occur",
			`fs(action="read") shows the text as it is; old must be the same to the letter`)
	}
	return out, nil
}

func (e *editor) editError(index int, kind tool.ErrorKind, code, message, hint string) error {
	return &tool.Error{
		Op: "edit", Kind: kind, Code: code, Subject: e.subject, Message: fmt.Sprintf("edit %d: %s", index, message), Hint: hint,
		Fields: []tool.Field{{Path: fmt.Sprintf("/edit/%d/old", index), Message: message}},
		Facts:  map[string]any{"changed": false},
	}
}

// write writes the changed blocks, verifies the result, and returns the ids of the written blocks.
func (e *editor) write(ctx context.Context, r *action.Request) ([]kernel.ID, error) {
	written := []kernel.ID{}
	var changed []*editedBlock
	var updates []kernel.Replacement
	rests := map[kernel.ID]string{}
	for _, p := range e.blocks {
		if p.kramdown() == p.before {
			continue
		}
		first := p.body
		if cut := splitTopLevel(p.body); len(cut) > 1 && len(splitTopLevel(p.first)) <= 1 {
			first = cut[0]
			rests[p.block.ID] = strings.Join(cut[1:], "\n\n")
		}
		data, err := e.admit(ctx, r, p, RemoveTimes(withAttrList(first, p.attrList)))
		if err != nil {
			return written, err
		}
		if rest, several := rests[p.block.ID]; several {
			if rests[p.block.ID], err = e.admit(ctx, r, p, rest); err != nil {
				return written, err
			}
		}
		if strings.TrimSpace(first) == "" {
			data = "" // from this the kernel makes an empty paragraph
		}
		changed = append(changed, p)
		if canonicalForm(data) == canonicalForm(p.before) {
			continue // new blocks follow it
		}
		p.updated = true
		updates = append(updates, kernel.Replacement{ID: p.block.ID, BlockContent: kernel.BlockContent{DataType: "markdown", Data: data}})
	}
	if len(changed) == 0 {
		return written, nil
	}
	done, err := Update(ctx, r.Kernel, updates)
	if err != nil {
		return written, err
	}
	named := map[kernel.ID]bool{} // blocks that the kernel says it has written
	for _, t := range done {
		for _, op := range t.DoOperations {
			named[op.ID] = true
		}
	}
	for _, p := range changed {
		written = append(written, p.block.ID)
		rest, several := rests[p.block.ID]
		if !several {
			continue
		}
		in := kernel.Insertion{BlockContent: kernel.BlockContent{DataType: "markdown", Data: rest}, Anchor: kernel.Anchor{PreviousID: p.block.ID}}
		done, err := r.Kernel.Insert(ctx, in)
		if err == nil && len(kernel.CreatedIDs(done)) == 0 {
			err = e.mismatchError(p.block.ID)
		}
		if err != nil {
			return written, withLostText(err, rest)
		}
		if err = e.addCreated(ctx, r.Kernel, done); err != nil {
			return written, err
		}
	}
	return written, e.verify(ctx, r, changed, named)
}

// addCreated adds the blocks that insertions have made. The kernel's answer names only the first of each, the others are
// in its DOM; and it may have put the items of a list into a list that was there.
func (e *editor) addCreated(ctx context.Context, k *kernel.Client, done []kernel.Transaction) error {
	ids := kernel.CreatedIDs(done)
	for _, t := range done {
		for _, op := range t.DoOperations {
			for _, b := range kernel.ParseDOM(kernel.DOMOf(op.Data)) {
				ids = append(ids, b.ID)
				for _, inner := range b.Blocks {
					ids = append(ids, inner.ID)
				}
			}
		}
	}
	ids = action.Distinct(ids)
	nodes, err := k.Nodes(ctx, ids)
	for _, id := range ids {
		n, exists := nodes[id]
		if _, inside := nodes[n.ParentID]; exists && !inside {
			e.created = append(e.created, id)
		}
	}
	return err
}

// admit applies [Admit] to the new content of a block, because an edit may join two harmless texts to a reference or
// another thing that Admit removes.
func (e *editor) admit(ctx context.Context, r *action.Request, p *editedBlock, text string) (string, error) {
	text, warnings, err := Admit(ctx, r, Written{Data: text, Over: p.block.ID})
	for _, w := range warnings {
		e.warnings = appendNew(e.warnings, w)
	}
	return ProtectCode(text), err
}

// Update writes the content of blocks, possibly none, and returns what the kernel says it has done.
func Update(ctx context.Context, k *kernel.Client, in []kernel.Replacement) ([]kernel.Transaction, error) {
	switch len(in) {
	case 0:
		return nil, nil
	case 1:
		return k.Update(ctx, in[0].ID, in[0].DataType, in[0].Data)
	}
	return k.BatchUpdate(ctx, in)
}

// verify reads back what was written and restores lost attributes. A block that the kernel says it has written may be
// unchanged, since the kernel stores many texts in the same form.
func (e *editor) verify(ctx context.Context, r *action.Request, changed []*editedBlock, named map[kernel.ID]bool) error {
	now, err := e.readAgain(ctx, r, changed)
	if err != nil {
		return err
	}
	for _, p := range changed {
		if p.updated && !named[p.block.ID] && canonicalForm(now[p.block.ID]) == canonicalForm(p.before) {
			return e.mismatchError(p.block.ID)
		}
		if err := KeepAttrs(ctx, r.Kernel, Attributes(p.kramdown()), Attributes(now[p.block.ID])); err != nil {
			return err
		}
	}
	return nil
}

// readAgain reads blocks again.
func (e *editor) readAgain(ctx context.Context, r *action.Request, changed []*editedBlock) (map[kernel.ID]string, error) {
	some := make([]kernel.Block, len(changed))
	for i, p := range changed {
		some[i] = p.block
	}
	var all []kernel.Block
	if e.doc != "" && len(changed) > maxSingleLookups {
		var err error
		if all, err = r.Kernel.ChildBlocks(ctx, e.doc); err != nil {
			return nil, err
		}
	}
	return kramdownOf(ctx, r.Kernel, e.doc, all, some, 0, len(all))
}

func (e *editor) mismatchError(id kernel.ID) error {
	return &tool.Error{
		Op: "edit", Kind: kernel.Mismatch, Subject: e.subject,
		Message: fmt.Sprintf("the kernel accepted the edit of block %s, but the block is not what was written", id),
		Hint:    `read it again: fs(action="read", path=…)`, Facts: map[string]any{"blockID": id},
	}
}

// withLostText adds a text to an error if it would otherwise be lost.
func withLostText(err error, text string) error {
	if len(text) >= 64<<10 {
		return err
	}
	return &tool.Error{
		Op: "write", Kind: tool.KindOf(err), Err: err, OutcomeUnknown: tool.KindOf(err) == kernel.OutcomeUnknown,
		Message: "a part of the text was not written; it is in recovery", Facts: map[string]any{"recovery": text},
	}
}
