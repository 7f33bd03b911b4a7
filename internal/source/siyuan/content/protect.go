package content

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"collie/internal/sorting"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file refuses to overwrite a document if something besides text would be lost, such as a database.

// The error kinds of an overwrite that would lose something.
const (
	ComplexBlocks    = tool.Conflict + "/complex_blocks_not_supported_by_fs"   // blocks that are not text
	StructuredAssets = tool.Conflict + "/structured_assets_overwrite_rejected" // attributes or references
)

// maxScan bounds the blocks of a document that may be overwritten, since all of them have to be checked.
const maxScan = 10_000

// scanLimit is the LIMIT of the queries of a scan. It is above maxScan, so that a document with too many blocks is noticed.
const scanLimit = 2 * maxScan

// maxNamed bounds the protected blocks named in an error.
const maxNamed = 50

// maxParallel bounds the parallel requests of one call.
const maxParallel = 8

// protectedBlock is a block whose removal would lose more than its text.
type protectedBlock struct {
	ID kernel.ID `json:"id"`
	// Kinds are name, alias, memo, bookmark, style and custom for attributes, and ref if another document refers to
	// the block.
	Kinds []string `json:"assetKinds"`
}

// overwritableBlocks returns the top-level blocks of a document if its text can be replaced without losing anything
// else. It returns an error if any block at any depth is not text ([isNotText]), has a name, alias, memo, bookmark, style
// or custom attribute, or is referred to from elsewhere; if there are more than 10,000 blocks; and if it cannot find
// out. It writes nothing.
func overwritableBlocks(ctx context.Context, r *action.Request, doc action.Target) ([]kernel.Block, error) {
	s := protectionScan{r: r, doc: doc}
	top, err := s.listBlocks(ctx)
	if err != nil {
		return nil, err
	}
	if len(s.complex) > 0 {
		return nil, s.refuse(ComplexBlocks, "", "the document holds blocks that are not plain text and would be lost", map[string]any{
			"complexBlocks": s.complex, "recommendedTools": recommendedActions(s.complex),
		}, `change single texts with fs(action="replace"), or single blocks with block(action="update")`)
	}
	protected, err := s.protectedBlocks(ctx)
	if err != nil {
		return nil, s.lossUnknown(err)
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

// protectionScan checks all blocks of a document.
type protectionScan struct {
	r   *action.Request
	doc action.Target

	mu      sync.Mutex
	ids     []kernel.ID
	complex []ComplexBlock
}

// listBlocks lists all current blocks of the document and returns the top-level ones.
func (s *protectionScan) listBlocks(ctx context.Context) ([]kernel.Block, error) {
	top, err := s.r.Kernel.ChildBlocks(ctx, s.doc.ID)
	if err != nil {
		return nil, s.lossUnknown(err)
	}
	level := s.addBlocks(top)
	asked := false
	for len(level) > 0 && len(s.ids) <= maxScan {
		if !asked && len(level) > maxSingleLookups {
			asked = true
			known, err := s.listFromIndex(ctx)
			if err != nil {
				return nil, s.lossUnknown(err)
			}
			if known {
				break
			}
		}
		var next []kernel.ID
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(maxParallel)
		for _, id := range level {
			group.Go(func() error {
				children, err := s.r.Kernel.ChildBlocks(ctx, id)
				if err != nil {
					return err
				}
				more := s.addBlocks(children)
				s.mu.Lock()
				defer s.mu.Unlock()
				next = append(next, more...)
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return nil, s.lossUnknown(err)
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

// maxSingleLookups is the largest number of containers that are asked for their children one by one: in a long document
// the kernel takes tens of milliseconds for each.
const maxSingleLookups = 8

// listFromIndex lists all blocks from the index, after a flush. It reports whether the index has all blocks that are in
// the document now; if not, they must be listed one by one.
func (s *protectionScan) listFromIndex(ctx context.Context) (bool, error) {
	if err := s.r.Kernel.FlushNow(ctx); err != nil { // FlushNow, because other programs write too
		return false, err
	}
	doc := kernel.Quote(string(s.doc.ID))
	rows, err := kernel.SQL[kernel.Block](ctx, s.r.Kernel,
		fmt.Sprintf("SELECT DISTINCT id, type FROM blocks WHERE root_id = %s AND id <> %s LIMIT %d", doc, doc, scanLimit))
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
	for _, id := range s.ids { // ids seen in the document
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
	s.addBlocks(rows)
	return true, nil
}

// addBlocks records blocks and returns those that have children.
func (s *protectionScan) addBlocks(blocks []kernel.Block) (containers []kernel.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range blocks {
		s.ids = append(s.ids, b.ID)
		switch {
		case isNotText(b.Type):
			s.complex = append(s.complex, ComplexBlock{b.ID, b.Type})
		case isContainer(b.Type):
			containers = append(containers, b.ID)
		}
	}
	return containers
}

// protectedBlocks finds references, and attributes both as they are now and in the index.
func (s *protectionScan) protectedBlocks(ctx context.Context) ([]protectedBlock, error) {
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
		" AND block_id <> "+doc+" AND value <> '' AND (name IN ('name', 'alias', 'memo', 'bookmark', 'style') OR name LIKE 'custom-%') LIMIT "+strconv.Itoa(scanLimit))
	if err != nil {
		return nil, err
	}
	type reference struct {
		Block    kernel.ID `json:"def_block_id"`
		Notebook kernel.ID `json:"box"` // of the referring block
	}
	referred, err := kernel.SQL[reference](ctx, s.r.Kernel, "SELECT DISTINCT def_block_id, box FROM refs WHERE def_block_root_id = "+doc+
		" AND def_block_id <> "+doc+" AND root_id <> "+doc+" LIMIT "+strconv.Itoa(scanLimit))
	if err != nil {
		return nil, err
	}
	present := map[kernel.ID]bool{}
	for _, id := range s.ids {
		present[id] = true
	}
	for _, a := range listed {
		if present[a.Block] { // the index may be out of date
			add(a.Block, assetKind(a.Name))
		}
	}
	for _, ref := range referred {
		if present[ref.Block] && s.r.Readable(ref.Notebook) { // refusing for a hidden note's reference would reveal it
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

// assetKind returns the kind of an attribute that must not be lost, "" for others.
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

// refuse returns an error of a kind. A kind that only overwriting uses is its own code.
func (s *protectionScan) refuse(kind tool.ErrorKind, code, message string, facts map[string]any, hint string) error {
	facts["path"], facts["id"] = s.doc.Subject, s.doc.ID
	if code == "" {
		code = kind.Type()
	}
	return &tool.Error{Op: "overwrite", Kind: kind, Code: code, Subject: s.doc.Subject, Message: message, Hint: hint, Facts: facts}
}

// lossUnknown returns the error if it cannot be found out what an overwrite would lose.
func (s *protectionScan) lossUnknown(err error) error {
	return &tool.Error{
		Op: "overwrite", Kind: tool.KindOf(err), Code: "overwrite_scan_failed", Subject: s.doc.Subject, Err: err,
		Message: "nothing was written: what the overwrite would lose cannot be found out",
		Hint:    "try again when the kernel answers", Facts: map[string]any{"path": s.doc.Subject, "id": s.doc.ID},
	}
}
