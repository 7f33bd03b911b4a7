package content

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"collie/internal/sorting"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// The kinds of error of an overwrite that would lose something.
const (
	ComplexBlocks    = tool.Conflict + "/complex_blocks_not_supported_by_fs"   // blocks that are not text
	StructuredAssets = tool.Conflict + "/structured_assets_overwrite_rejected" // attributes or references
)

// maxScan is how many blocks a document may have to be overwritten; what it holds cannot be
// judged beyond that.
const maxScan = 10_000

// maxNamed is how many protected blocks an error names.
const maxNamed = 50

// pool is how many requests of one call run at once.
const pool = 8

// protectedBlock is a block whose loss would lose more than its text.
type protectedBlock struct {
	ID kernel.ID `json:"id"`
	// Kinds are name, alias, memo, bookmark, style, custom for attributes, and ref for a block
	// that another document refers to.
	Kinds []string `json:"assetKinds"`
}

// overwritable returns nil if the text of a document can be replaced without losing anything
// but text, and the blocks at its top. It is refused where any block in it, however deep, is not
// text ([notText]), has a name, alias, memo, bookmark, style or custom attribute, or is referred
// to from elsewhere; where there are more than 10,000 blocks; and where it cannot be found out.
// It writes nothing.
func overwritable(ctx context.Context, r *action.Request, doc action.Target) ([]kernel.Block, error) {
	s := scan{r: r, doc: doc}
	top, err := s.blocks(ctx)
	if err != nil {
		return nil, err
	}
	if len(s.complex) > 0 {
		return nil, s.refuse(ComplexBlocks, "", "the document holds blocks that are not plain text and would be lost", map[string]any{
			"complexBlocks": s.complex, "recommendedTools": recommended(s.complex),
		}, `change single texts with fs(action="replace"), or single blocks with block(action="update")`)
	}
	protected, err := s.protected(ctx)
	if err != nil {
		return nil, s.unknown(err)
	}
	if n := len(protected); n > 0 {
		return nil, s.refuse(StructuredAssets, "",
			"blocks of the document have names, bookmarks, styles or other attributes, or other documents refer to them; all that would be lost",
			map[string]any{
				"protectedBlockCount": n, "protectedBlocks": protected[:min(n, maxNamed)], "truncated": n > maxNamed,
				"recommendedFlow": []string{`fs(action="read")`, `fs(action="replace")`},
			}, `change single texts with fs(action="replace"): it keeps blocks, ids and attributes`)
	}
	return top, nil
}

// scan looks at all blocks of a document.
type scan struct {
	r   *action.Request
	doc action.Target

	mu      sync.Mutex
	ids     []kernel.ID
	complex []ComplexBlock
}

// blocks lists all blocks of the document, as they are now, and returns those at its top.
func (s *scan) blocks(ctx context.Context) ([]kernel.Block, error) {
	top, err := s.r.Kernel.ChildBlocks(ctx, s.doc.ID)
	if err != nil {
		return nil, s.unknown(err)
	}
	level := s.note(top)
	asked := false
	for len(level) > 0 && len(s.ids) <= maxScan {
		if !asked && len(level) > few {
			asked = true
			known, err := s.indexed(ctx)
			if err != nil {
				return nil, s.unknown(err)
			}
			if known {
				break
			}
		}
		var next []kernel.ID
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(pool)
		for _, id := range level {
			group.Go(func() error {
				children, err := s.r.Kernel.ChildBlocks(ctx, id)
				if err != nil {
					return err
				}
				more := s.note(children)
				s.mu.Lock()
				defer s.mu.Unlock()
				next = append(next, more...)
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return nil, s.unknown(err)
		}
		level = next
	}
	if len(s.ids) > maxScan {
		return nil, s.refuse(tool.Conflicting, "overwrite_scan_limit", fmt.Sprintf("the document has more than %d blocks, too many to make sure that nothing is lost", maxScan),
			map[string]any{"scannedBlocks": maxScan}, `change single texts with fs(action="replace")`)
	}
	sorting.By(s.complex, func(a, b ComplexBlock) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return top, nil
}

// few is how many blocks are asked for what is below them, one by one: the kernel takes tens of
// milliseconds for each in a long document.
const few = 8

// indexed takes all blocks from the index, after a flush, and reports whether it has all that are
// in the document now; if not, they have to be listed.
func (s *scan) indexed(ctx context.Context) (bool, error) {
	if err := s.r.Kernel.FlushNow(ctx); err != nil { // others write, too
		return false, err
	}
	doc := kernel.Quote(string(s.doc.ID))
	rows, err := kernel.SQL[kernel.Block](ctx, s.r.Kernel,
		fmt.Sprintf("SELECT DISTINCT id, type FROM blocks WHERE root_id = %s AND id <> %s LIMIT %d", doc, doc, 2*maxScan))
	if err != nil {
		return false, err
	}
	body, err := s.r.Kernel.Kramdown(ctx, s.doc.ID)
	if err != nil {
		return false, err
	}
	known := map[kernel.ID]bool{s.doc.ID: true}
	for _, b := range rows {
		known[b.ID] = true
	}
	for _, id := range s.ids { // seen in the document
		if !known[id] {
			return false, nil
		}
	}
	for id := range Attributes(body) {
		if !known[id] {
			return false, nil
		}
	}
	s.ids, s.complex = nil, nil
	s.note(rows)
	return true, nil
}

// note keeps blocks and returns those that have others below them.
func (s *scan) note(blocks []kernel.Block) (containers []kernel.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range blocks {
		s.ids = append(s.ids, b.ID)
		switch {
		case notText(b.Type):
			s.complex = append(s.complex, ComplexBlock{b.ID, b.Type})
		case container(b.Type):
			containers = append(containers, b.ID)
		}
	}
	return containers
}

// protected finds attributes, as they are now and as the index has them, and references.
func (s *scan) protected(ctx context.Context) ([]protectedBlock, error) {
	kinds := map[kernel.ID][]string{}
	add := func(id kernel.ID, kind string) {
		if kind != "" && !slices.Contains(kinds[id], kind) {
			kinds[id] = append(kinds[id], kind)
		}
	}
	for some := range slices.Chunk(s.ids, 500) {
		attrs, err := s.r.Kernel.BatchAttrs(ctx, some)
		if err != nil {
			return nil, err
		}
		for id, list := range attrs {
			for name, value := range list {
				if value != "" {
					add(id, assetKind(name))
				}
			}
		}
	}
	doc := kernel.Quote(string(s.doc.ID))
	type attribute struct {
		Block kernel.ID `json:"block_id"`
		Name  string    `json:"name"`
	}
	listed, err := kernel.SQL[attribute](ctx, s.r.Kernel, "SELECT DISTINCT block_id, name FROM attributes WHERE root_id = "+doc+
		" AND block_id <> "+doc+" AND value <> '' AND (name IN ('name', 'alias', 'memo', 'bookmark', 'style') OR name LIKE 'custom-%') LIMIT 20000")
	if err != nil {
		return nil, err
	}
	type reference struct {
		Block    kernel.ID `json:"def_block_id"`
		Notebook kernel.ID `json:"box"` // of the block that refers
	}
	referred, err := kernel.SQL[reference](ctx, s.r.Kernel, "SELECT DISTINCT def_block_id, box FROM refs WHERE def_block_root_id = "+doc+
		" AND def_block_id <> "+doc+" AND root_id <> "+doc+" LIMIT 20000")
	if err != nil {
		return nil, err
	}
	present := map[kernel.ID]bool{}
	for _, id := range s.ids {
		present[id] = true
	}
	for _, a := range listed {
		if present[a.Block] { // the index may be behind
			add(a.Block, assetKind(a.Name))
		}
	}
	for _, ref := range referred {
		if present[ref.Block] && s.r.Readable(ref.Notebook) { // a refusal would tell that a hidden note refers to it
			add(ref.Block, "ref")
		}
	}
	out := make([]protectedBlock, 0, len(kinds))
	for _, id := range slices.Sorted(maps.Keys(kinds)) {
		slices.Sort(kinds[id])
		out = append(out, protectedBlock{id, kinds[id]})
	}
	return out, nil
}

// assetKind is the kind of an attribute that is worth keeping, "" for others.
func assetKind(name string) string {
	switch name {
	case "name", "alias", "memo", "bookmark", "style":
		return name
	}
	if strings.HasPrefix(name, "custom-") {
		return "custom"
	}
	return ""
}

// refuse is an error of a kind. Those that are for overwriting alone have themselves for a code.
func (s *scan) refuse(kind tool.ErrorKind, code, message string, facts map[string]any, hint string) error {
	facts["path"], facts["id"] = s.doc.Subject, s.doc.ID
	if code == "" {
		code = kind.Type()
	}
	return &tool.Error{Op: "overwrite", Kind: kind, Code: code, Subject: s.doc.Subject, Message: message, Hint: hint, Facts: facts}
}

// unknown is the error where it cannot be found out what an overwrite would lose.
func (s *scan) unknown(err error) error {
	return &tool.Error{
		Op: "overwrite", Kind: tool.KindOf(err), Code: "overwrite_scan_failed", Subject: s.doc.Subject, Err: err,
		Message: "nothing was written: what the overwrite would lose cannot be found out",
		Hint:    "try again when the kernel answers", Facts: map[string]any{"path": s.doc.Subject, "id": s.doc.ID},
	}
}
