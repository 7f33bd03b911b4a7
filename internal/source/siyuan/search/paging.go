package search

import (
	"context"
	"errors"
	"maps"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

const (
	maxKernelPage  = 128 // most hits that one request asks for
	maxFilterPages = 8   // pages of hits that one call filters itself
	// maxRestrictedPages takes the place of maxFilterPages if some notebook is hidden: hits left out because of hidden
	// text must not take the place of others, or their number would be revealed.
	maxRestrictedPages = 64
	shownHits          = 20 // hits shown of a page whose size the caller left open (T(20))
)

// list is a page of hits with what says how it came about.
type list struct {
	action.Page[hit]
	shown
	Mode       string `json:"paginationMode,omitempty" about:"kernel, or post_filtered_window" verbose:"yes"`
	Incomplete bool   `json:"incomplete,omitempty" about:"there are too many hits to filter all of them"`
}

// shown says whether a page is shown whole.
type shown struct {
	Truncated bool   `json:"truncated" about:"whether the page is shown in part"`
	Showing   int    `json:"showing" about:"how many are shown" verbose:"yes"`
	Hint      string `json:"hint,omitempty" about:"how to see more"`
}

// firstHits shows the beginning of a page whose size the caller left open.
func firstHits[T any](data []T, open bool) ([]T, shown) {
	if !open || len(data) <= shownHits {
		return data, shown{Showing: len(data)}
	}
	return data[:shownHits], shown{Truncated: true, Showing: shownHits, Hint: "give pageSize to see all of a page"}
}

// pages asks for one page of hits.
type pages func(ctx context.Context, page, size int) (kernel.FoundPage, error)

// filter is what hits have to pass. The zero value lets everything pass.
type filter struct {
	each  func(kernel.Found) bool // one by one; nil passes all
	batch func([]kernel.Found) []kernel.Found
	// hidden says that some notebook is hidden, so that the kernel's totals also count matches in hidden text.
	hidden bool
}

// fetchPage returns a page of the hits that may be read and pass a filter. If nothing must be left out, this is the
// kernel's own page, for one request. Otherwise it asks for all pages, up to a limit, and counts the totals over what
// is left.
func fetchPage(ctx context.Context, r *action.Request, ask pages, page, size int, only filter, withMarks bool) (list, error) {
	if only.each == nil && !only.hidden {
		out, all, err := kernelPageOf(ctx, r, ask, page, size, withMarks)
		if err != nil || all {
			return out, err
		}
	}
	return filteredPage(ctx, r, ask, page, size, only, withMarks)
}

// kernelPageOf returns one page as the kernel has it. all is false if something in it may not be read, so that its
// totals are wrong.
func kernelPageOf(ctx context.Context, r *action.Request, ask pages, page, size int, withMarks bool) (out list, all bool, err error) {
	got, page, err := pageOrLast(ctx, ask, page, size)
	if err != nil {
		return list{}, false, err
	}
	readable, dropped := readableHits(r, got.Blocks)
	if dropped > 0 {
		return list{}, false, nil
	}
	total := got.Matched
	if got.Pages <= 1 { // what the index holds twice was counted twice
		hits, _ := flattenGroups(readable)
		total = len(hits)
	}
	count := max(1, got.Pages)
	out.Pages = action.Pages{Total: total, Page: page, PageSize: size, PageCount: count, HasNextPage: page < count}
	out.Mode = "kernel"
	return out, true, out.setHits(ctx, r, readable, withMarks)
}

// pageOrLast returns a page, or the last one if the page asked for is beyond the end. Beyond the end the kernel fails,
// or answers without hits and perhaps without totals.
func pageOrLast(ctx context.Context, ask pages, page, size int) (kernel.FoundPage, int, error) {
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

func filteredPage(ctx context.Context, r *action.Request, ask pages, page, size int, only filter, withMarks bool) (list, error) {
	var kept []kernel.Found
	documents, seen := map[kernel.ID]kernel.Found{}, map[kernel.ID]bool{}
	incomplete, requests := false, maxFilterPages
	if only.hidden {
		requests = maxRestrictedPages
	}
	for n := 1; ; n++ {
		got, err := ask(ctx, n, maxKernelPage)
		if err != nil {
			return list{}, err
		}
		may, _ := readableHits(r, got.Blocks)
		hits, groups := flattenGroups(may)
		maps.Copy(documents, groups)
		for _, f := range hits {
			if !seen[f.ID] && (only.each == nil || only.each(f)) {
				kept = append(kept, f)
			}
			seen[f.ID] = true
		}
		if n >= got.Pages || only.hidden && len(kept) > maxFilterPages*maxKernelPage {
			break
		}
		if n == requests {
			incomplete = true
			break
		}
	}
	if only.hidden && len(kept) > maxFilterPages*maxKernelPage {
		kept, incomplete = kept[:maxFilterPages*maxKernelPage], true
	}
	if only.batch != nil {
		kept = only.batch(kept)
	}
	at := action.Paged(kept, page, size)
	out := list{Mode: "post_filtered_window", Incomplete: incomplete}
	out.Pages = at.Pages
	err := out.setHits(ctx, r, regroup(at.Data, documents), withMarks)
	if incomplete {
		out.Hint = "only the first hits were looked at: narrow the search down"
	}
	return out, err
}

// setHits puts hits onto a page.
func (l *list) setHits(ctx context.Context, r *action.Request, found []kernel.Found, withMarks bool) error {
	l.Data, l.shown = firstHits(hitsOf(found, withMarks), !r.Given("pageSize"))
	return addPaths(ctx, r, l.Data)
}

// flattenGroups replaces documents by the hits grouped below them. Hits outside of groups stay.
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

// regroup puts hits below their documents again, in the order of the hits.
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
