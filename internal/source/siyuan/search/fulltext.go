package search

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/sqlguard"
	"collie/internal/tool"
)

// This file has the action search.fulltext, which finds blocks by words, by syntax, by SQL or by a pattern.

type fulltextArgs struct {
	Query      string          `json:"query" about:"words, all of which must be there; or what method says; an id finds its block" req:"true" min:"1" max:"8000"`
	Method     string          `json:"method" about:"how query is meant" enum:"keyword,query_syntax,sql,regex" default:"keyword"`
	Types      map[string]bool `json:"types" about:"types of blocks: document, heading, paragraph, list, listItem, …" list:"no"`
	Shortcodes []string        `json:"typeShortcodes" about:"types of blocks, by code" enum:"d,h,p,l,i,b,c,m,t,s,html,embed,av,video,audio,widget,iframe,callout"`
	Paths      []string        `json:"paths" about:"where: notebook ids, or <notebook>/<storage path>.sy"`
	GroupBy    int             `json:"groupBy" about:"1: hits below their documents" default:"0" min:"0" max:"1" list:"no"`
	OrderBy    string          `json:"orderBy" about:"order of hits" enum:"type,created_asc,created_desc,updated_asc,updated_desc,content_asc,content_desc,relevance" default:"type" list:"no"`
	Page       int             `json:"page" about:"page, from 1" default:"1" min:"1"`
	PageSize   int             `json:"pageSize" about:"hits a page" default:"32" min:"1" max:"128"`
	ParentID   string          `json:"parentId" about:"only what is in this document or block"`
	HasTags    bool            `json:"hasTags" about:"only blocks that have a tag" list:"no"`
	StripHTML  bool            `json:"stripHtml" about:"no <mark> in content" list:"no"`
}

type resolvedArgs struct {
	Method  string   `json:"method"`
	OrderBy string   `json:"orderBy,omitempty"` // SQL statements have their own order
	GroupBy int      `json:"groupBy"`
	Types   []string `json:"types,omitempty"`
}

type fulltextResult struct {
	hitList
	Documents int          `json:"matchedRootCount,omitempty" about:"documents with hits" verbose:"yes"`
	Resolved  resolvedArgs `json:"resolvedArgs" about:"how the arguments were understood" verbose:"yes"`
}

// fulltext returns the action fulltext of the tool search.
func fulltext() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "fulltext", Purpose: "Find blocks by the words in them", Common: true, Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide: "Without types the kernel looks in its usual ones: no lists, list items, quotes and super blocks, since what is in them is found " +
			"by itself. query_syntax is that of SQLite's full text search: apple NOT pie, app*, \"two words\". regex is RE2. sql is a SELECT with " +
			"a column id, which says itself which types, where and in what order. A page whose size is not given shows 20 hits at most.",
		Needs:      []action.Need{action.OnBlock(access.Read, "parentId")},
		Endpoints:  []string{"search/fullTextSearchBlock", "sqlite/flushTransaction", "notebook/lsNotebooks", "query/sql"},
		Aliases:    map[string]string{"methodName": "method", "sortBy": "orderBy", "parentID": "parentId"},
		Positional: []string{"query"},
		Adapt: adaptArgs(map[string]string{"methodName": "method", "sortBy": "orderBy"},
			map[string]map[string]int{"method": methods, "orderBy": orders}),
		Result:  fulltextResult{},
		Example: `{"query":"travel plan","typeShortcodes":["h","p"],"pageSize":10}`,
	}, func(ctx context.Context, r *action.Request, a fulltextArgs) (any, error) {
		f := finder{args: &a, hiddenTextFilter: hiddenTextFilter{r: r}}
		if err := f.prepare(ctx); err != nil {
			return nil, err
		}
		only, err := hitFilter(ctx, r, &a)
		if err != nil {
			return nil, err
		}
		if only.someHidden, err = r.Levels.Restricted(ctx); err != nil {
			return nil, err
		}
		only.reorder = f.dropAndDemote
		out := fulltextResult{Resolved: resolvedArgs{a.Method, a.OrderBy, a.GroupBy, searchedTypes(a.Types)}}
		if a.Method == "sql" {
			out.Resolved.OrderBy = ""
		}
		out.hitList, err = fetchPage(ctx, r, f.page, a.Page, a.PageSize, only, !a.StripHTML)
		if err == nil && out.Mode == "kernel" {
			out.Documents = f.documents
		}
		if f.hasMore {
			out.Incomplete, out.Hint = true, "only the first rows were looked at: add conditions to the statement"
		}
		return out, err
	})
}

// kernelQuery returns the query for the kernel; nil if nothing may be read.
func kernelQuery(ctx context.Context, r *action.Request, a *fulltextArgs) (*kernel.FullText, error) {
	paths, err := checkPaths(r, a.Paths)
	if err != nil {
		return nil, err
	}
	for name := range a.Types {
		if !slices.Contains(blockTypeNames(), name) {
			return nil, r.Invalid("types/"+name, "is not a type of block; there are "+strings.Join(blockTypeNames(), ", "))
		}
	}
	for _, code := range a.Shortcodes {
		if a.Types == nil {
			a.Types = map[string]bool{}
		}
		a.Types[blockTypes[code]] = true
	}
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkQuery(r, a, restricted); err != nil {
		return nil, err
	}
	if target := r.Targets("parentId"); len(target) > 0 && len(paths) == 0 {
		switch t := target[0]; {
		case t.ID == t.Notebook:
			paths = []string{string(t.Notebook)}
		case t.Path != "" && t.Path != "/":
			paths = []string{string(t.Notebook) + t.Path}
		}
	}
	paths, nothing, err := narrowPaths(ctx, r, paths)
	if err != nil || nothing {
		return nil, err
	}
	if restricted {
		a.Types = withoutCopiedTypes(a.Types)
	}
	return &kernel.FullText{
		Query: escapeQuery(a), Method: methods[a.Method], Types: a.Types, Paths: paths, GroupBy: a.GroupBy, OrderBy: orders[a.OrderBy],
	}, nil
}

// escapeQuery escapes the query. The kernel inserts a full text expression without escaping into an SQL statement, where
// a quote could end that statement and start another one, even one that writes.
func escapeQuery(a *fulltextArgs) string {
	if a.Method == "query_syntax" {
		return strings.ReplaceAll(a.Query, "'", "''")
	}
	return a.Query
}

// checkQuery refuses queries for which the kernel would return no hits without an explanation, and queries that could
// reach notebooks that may not be read.
func checkQuery(r *action.Request, a *fulltextArgs, restricted bool) error {
	switch a.Method {
	case "regex":
		if _, err := regexp.Compile(a.Query); err != nil {
			return r.Invalid("query", "is not a regular expression of RE2: "+err.Error())
		}
	case "query_syntax":
		if err := sqlguard.Words(a.Query); err != nil {
			return wordsError(r, err)
		}
	}
	// The kernel converts these to SQL, and it is unknown whether it escapes them.
	if restricted && a.Method != "keyword" && strings.ContainsAny(a.Query, "'\x00") {
		return r.Invalid("query", "must have no ' in it while some notebook may not be read; method keyword takes it")
	}
	return nil
}

// wordsError returns the error for an invalid full text query.
func wordsError(r *action.Request, err error) error {
	refused, ok := errors.AsType[*sqlguard.Refused](err)
	if !ok {
		return &tool.Error{Op: "check a search", Kind: tool.Internal, Subject: name, Err: err}
	}
	out := r.Invalid("query", "is wrong in query_syntax: "+refused.Message)
	out.Hint = refused.Hint + "; method keyword takes any text"
	return out
}

// hitFilter returns the conditions on hits that the kernel cannot check.
func hitFilter(ctx context.Context, r *action.Request, a *fulltextArgs) (filter, error) {
	var keeps []func(kernel.Found) bool
	if a.HasTags {
		keeps = append(keeps, func(f kernel.Found) bool { return strings.TrimSpace(f.Tag) != "" })
	}
	if targets := r.Targets("parentId"); len(targets) > 0 {
		inside, err := descendantFilter(ctx, r, targets[0])
		if err != nil {
			return filter{}, err
		}
		keeps = append(keeps, inside)
	}
	if len(keeps) == 0 {
		return filter{}, nil
	}
	return filter{accepts: func(f kernel.Found) bool {
		return !slices.ContainsFunc(keeps, func(k func(kernel.Found) bool) bool { return !k(f) })
	}}, nil
}

// descendantFilter returns a function that reports whether a hit is in a document or below a block.
func descendantFilter(ctx context.Context, r *action.Request, t action.Target) (func(kernel.Found) bool, error) {
	switch {
	case t.ID == t.Notebook:
		return func(f kernel.Found) bool { return f.Notebook == t.Notebook && f.ID != t.ID }, nil
	case t.What == access.Document:
		return func(f kernel.Found) bool { return f.Root == t.Root && f.ID != t.ID }, nil
	}
	type row struct {
		ID     kernel.ID `json:"id"`
		Parent kernel.ID `json:"parent_id"`
	}
	rows, err := kernel.SQL[row](ctx, r.Kernel, "SELECT DISTINCT id, parent_id FROM blocks WHERE root_id IN ("+
		kernel.QuoteIDs([]kernel.ID{t.Root})+") LIMIT 1000000")
	if err != nil {
		return nil, err
	}
	parents := map[kernel.ID]kernel.ID{}
	for _, row := range rows {
		parents[row.ID] = row.Parent
	}
	const maxSteps = 1000 // ends a circle, which a wrong index may have
	return func(f kernel.Found) bool {
		for id, steps := parents[f.ID], 0; id != "" && steps < maxSteps; id, steps = parents[id], steps+1 {
			if id == t.ID {
				return true
			}
		}
		return false
	}, nil
}
