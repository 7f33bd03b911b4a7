package search

import (
	"cmp"
	"context"

	"collie/internal/sorting"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/sqlguard"
)

// This file fetches pages of hits, from the kernel's search or from an SQL statement.

// maxStatementRows bounds the rows of an SQL statement that one search reads.
const maxStatementRows = 10_000

// finder asks the kernel for pages of blocks.
type finder struct {
	args *fulltextArgs

	fulltext *kernel.FullText // nil if nothing can match
	ids      []kernel.ID      // results of an SQL statement, in its order
	hasMore  bool             // the statement would return more rows

	hiddenTextFilter
	wholeDocs bool // a document matches if it contains all words; the hits are its blocks with at least one
	documents int  // number of matching documents, as of the last page
}

// prepare reads the arguments. For an SQL statement it also runs it.
func (f *finder) prepare(ctx context.Context) error {
	if f.args.Method == "sql" {
		return f.runSQL(ctx)
	}
	var err error
	f.fulltext, err = kernelQuery(ctx, f.r, f.args)
	f.matches = newMatcher(f.args.Method, f.args.Query, false)
	if kernel.ID(f.args.Query).Valid() { // the kernel finds the block with this id, whatever the other arguments
		f.matches = anyMatch
	}
	return err
}

// runSQL runs an SQL statement here. The kernel's own SQL search ignores LIMIT, types and paths, and returns no hits for a
// statement that it does not understand.
func (f *finder) runSQL(ctx context.Context) error {
	for _, param := range []string{"types", "typeShortcodes", "paths", "orderBy"} {
		if f.r.Given(param) {
			return f.r.Conflicting("a statement says itself what it finds: put "+param+" into it, such as WHERE type = 'p' ORDER BY updated DESC", param, "method")
		}
	}
	statement, err := sqlguard.Parse(f.args.Query)
	if err == nil {
		statement, err = statement.IDs()
	}
	if err != nil {
		return sqlError(f.r, "query", err)
	}
	sent, err := narrowStatement(ctx, f.r, "query", statement, maxStatementRows+1)
	if err != nil {
		return err
	}
	rows, err := runStatement(ctx, f.r, "query", sent)
	if err != nil {
		return err
	}
	if f.hasMore = len(rows) > maxStatementRows; f.hasMore {
		rows = rows[:maxStatementRows]
	}
	f.ids = distinctIDs(rows)
	f.matches = anyMatch // the statement saw only what readers see
	f.fulltext = &kernel.FullText{Method: kernel.MethodSQL, GroupBy: f.args.GroupBy, Page: 1}
	return nil
}

// page returns one page of hits.
func (f *finder) page(ctx context.Context, page, size int) (kernel.FoundPage, error) {
	if f.fulltext == nil {
		return kernel.FoundPage{}, nil
	}
	if f.args.Method == "sql" {
		return f.statementPage(ctx, page, size)
	}
	q := *f.fulltext
	q.Page, q.PageSize = page, size
	got, err := f.r.Kernel.FullText(ctx, q)
	f.documents = got.Documents
	if kernel.ID(q.Query).Valid() { // the kernel ignores the scope, and a count would reveal that the block exists
		got.Blocks, _ = readableHits(f.r, got.Blocks)
		got.Matched, got.Pages, f.documents = len(got.Blocks), min(len(got.Blocks), 1), len(got.Blocks)
	}
	if got.DocMode && q.GroupBy == 0 {
		got.Blocks = dropParentDocs(got.Blocks, q.Query, min(max(got.Matched-(page-1)*size, 0), size))
	}
	if err == nil {
		if got.DocMode && !f.wholeDocs {
			f.wholeDocs, f.matches = true, newMatcher(f.args.Method, f.args.Query, true)
		}
		got.Blocks, err = f.cleanHits(ctx, got.Blocks)
	}
	return got, err
}

// dropAndDemote drops hits that match only by hidden text, and moves those whose text was changed to the end.
func (f *finder) dropAndDemote(found []kernel.Found) []kernel.Found {
	if f.wholeDocs {
		found = dropHiddenMatches(found, f.args.Query)
	}
	return f.demoteCleaned(found)
}

// statementPage returns one page of the results of an SQL statement.
func (f *finder) statementPage(ctx context.Context, page, size int) (kernel.FoundPage, error) {
	out := kernel.FoundPage{Matched: len(f.ids), Pages: (len(f.ids) + size - 1) / size}
	ids := f.ids[min((page-1)*size, len(f.ids)):min(page*size, len(f.ids))]
	if len(ids) == 0 {
		return out, nil
	}
	q := *f.fulltext
	q.Query, q.PageSize = "SELECT * FROM blocks WHERE id IN ("+kernel.QuoteIDs(ids)+")", 2*len(ids) // rows may be duplicated
	got, err := f.r.Kernel.FullText(ctx, q)
	if err != nil {
		return out, err
	}
	if got.Blocks, err = dropDatabases(ctx, f.r, got.Blocks); err != nil {
		return out, err
	}
	if got.Blocks, err = f.cleanHits(ctx, got.Blocks); err != nil {
		return out, err
	}
	hits, documents := flattenGroups(got.Blocks)
	at := map[kernel.ID]int{}
	for i, id := range ids {
		at[id] = i
	}
	sorting.Stable(hits, func(a, b kernel.Found) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	out.Blocks = regroup(hits, documents)
	return out, nil
}
