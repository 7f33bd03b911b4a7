package search

import (
	"context"
	"errors"
	"maps"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file makes pages of hits when some hits may not be shown, so that the kernel's own pages are wrong.

const (
	maxKernelPage  = 128 // maximum page size of a request to the kernel
	maxFilterPages = 8   // maximum number of pages that one call fetches to filter them
	// maxRestrictedPages replaces maxFilterPages if some notebook is hidden. Then more pages are fetched, so that
	// removed hits do not reduce the number of results, which would reveal how many there are.
	maxRestrictedPages = 64
	shownHits          = 20 // hits shown if the caller gave no page size
)

// hitList is a page of hits, with information on how it was made.
type hitList struct {
	action.Page[hit]
	shownPart
	Mode       string `json:"paginationMode,omitempty" about:"kernel, or post_filtered_window" verbose:"yes"`
	Incomplete bool   `json:"incomplete,omitempty" about:"there are too many hits to filter all of them"`
}

// shownPart reports whether a page was shortened.
type shownPart struct {
	Truncated bool   `json:"truncated" about:"whether the page is shown in part"`
	Showing   int    `json:"showing" about:"how many are shown" verbose:"yes"`
	Hint      string `json:"hint,omitempty" about:"how to see more"`
}

// firstHits shortens a page if the caller gave no page size.
func firstHits[T any](data []T, shorten bool) ([]T, shownPart) {
	if !shorten || len(data) <= shownHits {
		return data, shownPart{Showing: len(data)}
	}
	return data[:shownHits], shownPart{Truncated: true, Showing: shownHits, Hint: "give pageSize to see all of a page"}
}

// pageFetcher fetches one page of hits.
type pageFetcher func(ctx context.Context, page, size int) (kernel.FoundPage, error)

// filter is a condition on hits. The zero value accepts all.
type filter struct {
	accepts func(kernel.Found) bool // checks one hit; nil accepts all
	// reorder is called once with all remaining hits, and may drop some of them; nil leaves them as they are.
	reorder func([]kernel.Found) []kernel.Found
	// someHidden says that some notebook is hidden, so the kernel's totals also count matches in hidden text.
	someHidden bool
}

// fetchPage returns a page of the hits that may be read and match a filter. If no hit has to be removed, it is the
// kernel's own page, and costs one request. Otherwise all pages are fetched, up to a limit, and the totals count the
// remaining hits.
func fetchPage(ctx context.Context, r *action.Request, ask pageFetcher, page, size int, only filter, withMarks bool) (hitList, error) {
	if only.accepts == nil && !only.someHidden {
		out, all, err := kernelPageOf(ctx, r, ask, page, size, withMarks)
		if err != nil || all {
			return out, err
		}
	}
	return filteredPage(ctx, r, ask, page, size, only, withMarks)
}

// kernelPageOf returns a page of the kernel. all is false if it contains hits that may not be read, which makes the
// kernel's totals wrong.
func kernelPageOf(ctx context.Context, r *action.Request, ask pageFetcher, page, size int, withMarks bool) (out hitList, all bool, err error) {
	got, page, err := pageOrLast(ctx, ask, page, size)
	if err != nil {
		return hitList{}, false, err
	}
	readable, dropped := readableHits(r, got.Blocks)
	if dropped > 0 {
		return hitList{}, false, nil
	}
	total := got.Matched
	if got.Pages <= 1 { // duplicates in the index were counted twice
		hits, _ := flattenGroups(readable)
		total = len(hits)
	}
	count := max(1, got.Pages)
	out.Pages = action.Pages{Total: total, Page: page, PageSize: size, PageCount: count, HasNextPage: page < count}
	out.Mode = "kernel"
	return out, true, out.setHits(ctx, r, readable, withMarks)
}

// pageOrLast returns the requested page, or the last one if there are fewer. For a page beyond the end the kernel
// returns an error, or an empty page that may lack totals.
func pageOrLast(ctx context.Context, ask pageFetcher, page, size int) (kernel.FoundPage, int, error) {
	got, err := ask(ctx, page, size)
	if page == 1 || err == nil && len(got.Blocks) > 0 {
		return got, page, err
	}
	if e, ok := errors.AsType[*tool.Error](err); err != nil && (!ok || e.Code != kernel.CodeNoEffect) {
		return got, page, err
	}
	first, err := ask(ctx, 1, size)
	if err != nil || first.Pages <= 1 {
		return first, 1, err
	}
	page = min(page, first.Pages)
	got, err = ask(ctx, page, size)
	return got, page, err
}

// filteredPage returns a page of the hits that may be read and match a filter, from pages of the kernel that it fetches and filters,
// up to a limit. The totals count the remaining hits.
func filteredPage(ctx context.Context, r *action.Request, ask pageFetcher, page, size int, only filter, withMarks bool) (hitList, error) {
	var kept []kernel.Found
	documents, seen := map[kernel.ID]kernel.Found{}, map[kernel.ID]bool{}
	incomplete, requests := false, maxFilterPages
	if only.someHidden {
		requests = maxRestrictedPages
	}
	for n := 1; ; n++ {
		got, err := ask(ctx, n, maxKernelPage)
		if err != nil {
			return hitList{}, err
		}
		readable, _ := readableHits(r, got.Blocks)
		hits, groups := flattenGroups(readable)
		maps.Copy(documents, groups)
		for _, f := range hits {
			if !seen[f.ID] && (only.accepts == nil || only.accepts(f)) {
				kept = append(kept, f)
			}
			seen[f.ID] = true
		}
		if n >= got.Pages || only.someHidden && len(kept) > maxFilterPages*maxKernelPage {
			break
		}
		if n == requests {
			incomplete = true
			break
		}
	}
	if only.someHidden && len(kept) > maxFilterPages*maxKernelPage {
		kept, incomplete = kept[:maxFilterPages*maxKernelPage], true
	}
	if only.reorder != nil {
		kept = only.reorder(kept)
	}
	at := action.Paged(kept, page, size)
	out := hitList{Mode: "post_filtered_window", Incomplete: incomplete}
	out.Pages = at.Pages
	err := out.setHits(ctx, r, regroup(at.Data, documents), withMarks)
	if incomplete {
		out.Hint = "only the first hits were looked at: narrow the search down"
	}
	return out, err
}

// setHits sets the hits of a page.
func (l *hitList) setHits(ctx context.Context, r *action.Request, found []kernel.Found, withMarks bool) error {
	l.Data, l.shownPart = firstHits(hitsOf(found, withMarks), !r.Given("pageSize"))
	return addPaths(ctx, r, l.Data)
}

// flattenGroups replaces documents by the hits grouped below them. Ungrouped hits are kept.
func flattenGroups(found []kernel.Found) (hits []kernel.Found, documents map[kernel.ID]kernel.Found) {
	documents = map[kernel.ID]kernel.Found{}
	for _, f := range found {
		if len(f.Children) == 0 {
			hits = append(hits, f)
			continue
		}
		hits = append(hits, f.Children...)
		f.Children = nil
		documents[f.ID] = f
	}
	return hits, documents
}

// regroup reverses flattenGroups. It keeps the order of hits.
func regroup(hits []kernel.Found, documents map[kernel.ID]kernel.Found) []kernel.Found {
	var out []kernel.Found
	at := map[kernel.ID]int{}
	for _, h := range hits {
		document, grouped := documents[h.Root]
		if !grouped {
			out = append(out, h)
			continue
		}
		i, begun := at[h.Root]
		if !begun {
			i, at[h.Root] = len(out), len(out)
			out = append(out, document)
		}
		out[i].Children = append(out[i].Children, h)
	}
	return out
}
