package fs

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action fs.search, which searches documents line by line, as grep does.

type searchArgs struct {
	Path          string `json:"path" about:"notebook or document, with all below it; / for all" default:"/"`
	Query         string `json:"query" about:"text, or a pattern with regex" req:"true" min:"1" max:"1000"`
	Regex         bool   `json:"regex" about:"query is a Go regular expression" default:"false"`
	CaseSensitive bool   `json:"caseSensitive" about:"upper and lower case differ" default:"false"`
	Page          int    `json:"page" about:"page, from 1" default:"1" min:"1" list:"yes"`
	PageSize      int    `json:"pageSize" about:"lines a page" default:"50" min:"1" max:"200"`
}

// hit is a line that matches the query.
type hit struct {
	Path      string `json:"path" about:"path of the document"`
	Line      int    `json:"line" about:"number of the line, from 1"`
	Text      string `json:"text" about:"the line, 200 characters at most"`
	Truncated bool   `json:"textTruncated,omitempty" about:"it is longer"`
	Length    int    `json:"originalTextLength,omitempty" about:"how long"`

	document document
}

type searchResult struct {
	action.Page[hit]
	Path          string `json:"path" about:"where was searched"`
	Query         string `json:"query" about:"as given" verbose:"yes"`
	Regex         bool   `json:"regex" about:"as given" verbose:"yes"`
	CaseSensitive bool   `json:"caseSensitive" about:"as given" verbose:"yes"`
	Partial       bool   `json:"partial,omitempty" about:"not all documents were read"`
	Scanned       int    `json:"scannedDocs" about:"documents read"`
	Remaining     int    `json:"remainingDocs" about:"documents left out"`
	FailedDocs    int    `json:"failedDocs,omitempty" about:"documents that could not be read"`
	Hint          string `json:"hint,omitempty" about:"what to do about it"`
}

const (
	// maxSearched bounds the documents that one search reads.
	maxSearched = 500
	// maxLine is the length up to which a line is shown, in characters.
	maxLine = 200
)

// search returns the action search of the tool fs.
func search() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "search", Purpose: "Find lines in the Markdown of documents, like grep", Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide: "Patterns are Go's RE2: no look-around and no back-references. Lines are those of the whole text as read shows it, from 1. " +
			"One call reads 500 documents at most: partial and remainingDocs say if there are more; give a narrower path then.",
		Needs: []action.Need{action.OnPath(access.Read, "path", action.PathRoot, action.PathNotebook, action.PathVirtual)},
		Endpoints: []string{
			"notebook/lsNotebooks", "filetree/getPathByID", "query/sql", "sqlite/flushTransaction", "block/getBlockKramdown",
		},
		Positional: []string{"path", "query"},
		Result:     searchResult{},
		Example:    `{"path":"/Work notes","query":"budget"}`,
	}, runSearch)
}

func runSearch(ctx context.Context, r *action.Request, a searchArgs) (any, error) {
	pattern, err := compilePattern(r, a)
	if err != nil {
		return nil, err
	}
	out := searchResult{Path: "/", Query: a.Query, Regex: a.Regex, CaseSensitive: a.CaseSensitive}
	s := searcher{r: r, args: a, pattern: pattern}
	targets := r.Targets("path")
	normal, err := action.NormalizePath(a.Path)
	switch {
	case err != nil:
		return nil, err
	case len(targets) > 0:
		out.Path = callerPath(ctx, r, targets[0])
		err = s.searchDocuments(ctx, &targets[0])
	case normal == "/":
		if err = s.searchDocuments(ctx, nil); err == nil {
			s.searchVirtual(action.AgentsFile)
			s.searchVirtual(action.UserRulesFile)
		}
	default:
		out.Path = normal
		s.searchVirtual(normal)
	}
	if err != nil {
		return nil, err
	}
	out.Page = action.Paged(s.hits, a.Page, a.PageSize)
	if err := s.tellApart(ctx, out.Data); err != nil {
		return nil, err
	}
	out.Scanned, out.Remaining, out.FailedDocs = s.scanned, s.remaining, int(s.failed.Load())
	out.Partial = out.Remaining > 0 || out.FailedDocs > 0
	switch {
	case out.Remaining > 0:
		out.Hint = "not all documents were read: give a narrower path"
	case len(s.closed) > 0:
		out.Hint = "closed notebooks were not searched: " + strings.Join(s.closed, ", ")
	}
	return out, nil
}

// compilePattern compiles the query to a pattern for single lines.
func compilePattern(r *action.Request, a searchArgs) (*regexp.Regexp, error) {
	text := a.Query
	if !a.Regex {
		if strings.ContainsAny(text, "\n\r") {
			return nil, r.Invalid("query", "has several lines, and lines are searched one by one")
		}
		if text = regexp.QuoteMeta(content.Clean(text)); text == "" {
			return nil, r.Invalid("query", "has only invisible characters")
		}
	}
	if !a.CaseSensitive {
		text = "(?i)" + text
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		e := r.Invalid("query", "is not a pattern of Go's RE2: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		e.Hint = "RE2 has no look-around and no back-references; give regex=false to search for the text itself"
		return nil, e
	}
	return pattern, nil
}

// searcher searches the lines of documents.
type searcher struct {
	r       *action.Request
	args    searchArgs
	pattern *regexp.Regexp

	hits               []hit
	closed             []string // names of closed notebooks, which are not searched
	scanned, remaining int
	failed             atomic.Int64
}

// document is a document to search.
type document struct {
	ID    kernel.ID `json:"id"`
	Box   kernel.ID `json:"box"`
	HPath string    `json:"hpath"`
}

// searchDocuments searches the documents of a scope, or all readable ones if scope is nil.
func (s *searcher) searchDocuments(ctx context.Context, scope *action.Target) error {
	where, err := s.scopeCondition(ctx, scope)
	if err != nil || where == "" {
		return err
	}
	restricted, err := s.r.Levels.Restricted(ctx)
	if err != nil {
		return err
	}
	rows, err := kernel.SQL[document](ctx, s.r.Kernel,
		"SELECT DISTINCT id, box, hpath FROM blocks WHERE type = 'd' AND "+where+s.candidateCondition(where, restricted)+" ORDER BY box, hpath, id LIMIT 100000")
	if err != nil {
		return err
	}
	var found []document
	seen := map[kernel.ID]bool{}
	for _, d := range rows {
		if d.ID == d.Box || seen[d.ID] || !d.ID.Valid() {
			continue // the hidden page of a notebook, or a duplicate row
		}
		seen[d.ID] = true
		if !s.r.Readable(d.Box) {
			continue
		}
		found = append(found, d)
	}
	s.remaining = max(0, len(found)-maxSearched)
	found = found[:len(found)-s.remaining]
	s.scanned = len(found)
	return s.scan(ctx, found)
}

// scopeCondition returns an SQL condition for a scope, "" if the scope is empty.
func (s *searcher) scopeCondition(ctx context.Context, scope *action.Target) (string, error) {
	visible, err := s.r.Levels.Visible(ctx)
	if err != nil {
		return "", err
	}
	var boxes []kernel.ID
	for i := range visible {
		n := &visible[i]
		switch closed := n.Closed || n.Locked(); {
		case scope == nil && closed:
			s.closed = append(s.closed, n.Name)
		case scope == nil:
			boxes = append(boxes, n.ID)
		case closed && n.ID == scope.Notebook:
			return "", action.ClosedNotebookError(scope.Subject, n.Name)
		}
	}
	if scope == nil {
		if len(boxes) == 0 {
			return "", nil
		}
		return "box IN (" + kernel.QuoteIDs(boxes) + ")", nil
	}
	box := "box = " + kernel.Quote(string(scope.Notebook))
	if scope.What == access.Notebook {
		return box, nil
	}
	t, err := s.r.Located(ctx, *scope)
	if err != nil {
		return "", err
	}
	below := strings.TrimSuffix(t.Path, ".sy") + "/%" // ids and slashes: nothing to escape
	return box + " AND (path = " + kernel.Quote(t.Path) + " OR path LIKE " + kernel.Quote(below) + ")", nil
}

// candidateCondition returns an SQL condition that excludes documents that cannot match, "" if the index cannot tell. It
// does not exclude documents in which the index has invisible characters or styles between two characters.
//
// If some notebook may not be read, readable blocks in the index may contain its text: results of embedded queries, and
// anchors of references. The number of documents that are read must not depend on that text.
func (s *searcher) candidateCondition(where string, restricted bool) string {
	if s.args.Regex {
		return ""
	}
	query := content.Clean(s.args.Query)
	contains := func(column string) string {
		if s.args.CaseSensitive {
			return "instr(" + column + ", " + kernel.Quote(query) + ") > 0"
		}
		return kernel.Contains(column, query)
	}
	text := contains("content")
	if restricted {
		text = "instr(markdown, '((') > 0"
	}
	return " AND id IN (SELECT root_id FROM blocks WHERE " + where + " AND (" + contains("markdown") + " OR " + text +
		" OR markdown GLOB " + kernel.Quote("*["+content.ZeroWidth+"]*") + " OR instr(markdown, '{: ') > 0))"
}

// scan searches documents in order. It counts documents that cannot be read; if none can, it returns an error.
func (s *searcher) scan(ctx context.Context, documents []document) error {
	hits := make([][]hit, len(documents))
	var last atomic.Pointer[error]
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	for i, d := range documents {
		group.Go(func() error {
			kramdown, err := s.r.Kernel.Kramdown(groupCtx, d.ID)
			if err != nil {
				s.failed.Add(1)
				last.Store(&err)
				return ctx.Err()
			}
			path, err := s.r.HumanPath(groupCtx, d.Box, d.HPath)
			if err != nil {
				return err
			}
			redactor, err := content.NewRedactor(groupCtx, s.r, kramdown)
			if err != nil {
				return err
			}
			hits[i] = s.matchingLines(path, content.Visible(redactor.Text(kramdown)))
			for j := range hits[i] {
				hits[i][j].document = d
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if n := int(s.failed.Load()); n > 0 && n == len(documents) {
		return *last.Load()
	}
	s.hits = append(s.hits, slices.Concat(hits...)...)
	return nil
}

// tellApart appends ids to paths that several documents have.
func (s *searcher) tellApart(ctx context.Context, hits []hit) error {
	var boxes []kernel.ID
	var titles []string
	for _, h := range hits {
		if d := h.document; d.ID != "" {
			boxes, titles = append(boxes, d.Box), append(titles, kernel.Quote(d.HPath))
		}
	}
	if len(boxes) == 0 {
		return nil
	}
	slices.Sort(titles)
	rows, err := kernel.SQL[document](ctx, s.r.Kernel, "SELECT DISTINCT id, box, hpath FROM blocks WHERE type = 'd' AND box IN ("+
		kernel.QuoteIDs(boxes)+") AND hpath IN ("+strings.Join(slices.Compact(titles), ",")+") LIMIT 10000")
	if err != nil {
		return err
	}
	for i := range hits {
		h := &hits[i]
		if d := h.document; slices.ContainsFunc(rows, func(o document) bool { return o.ID != d.ID && o.Box == d.Box && o.HPath == d.HPath }) {
			h.Path += "#" + string(d.ID)
		}
	}
	return nil
}

// searchVirtual searches a virtual file.
func (s *searcher) searchVirtual(path string) {
	_, text := virtualFile(s.r, path)
	s.hits = append(s.hits, s.matchingLines(path, text)...)
}

// matchingLines returns the matching lines of a text.
func (s *searcher) matchingLines(path, text string) []hit {
	var out []hit
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if !s.pattern.MatchString(line) {
			continue
		}
		h := hit{Path: path, Line: n, Text: line}
		if runes := []rune(line); len(runes) > maxLine {
			h.Text, h.Truncated, h.Length = string(runes[:maxLine]), true, len(runes)
		}
		out = append(out, h)
	}
	return out
}
