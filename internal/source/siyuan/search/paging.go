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
	kernelPage = 128 // most hits that one request asks for
	mostPages  = 8   // pages of hits that one call filters itself
	// mostCleaned is how many requests it makes for them where some notebook may not be read: hits that are left out for
	// what is hidden in them must not take the place of others, or their number would tell.
	mostCleaned = 64
	shownHits   = 20 // hits shown of a page whose size the caller left open (T(20))
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

// cut shows the beginning of a page whose size the caller left open.
func cut[T any](data []T, open bool) ([]T, shown) {
	if !open || len(data) <= shownHits {
		return data, shown{Showing: len(data)}
	}
	return data[:shownHits], shown{Truncated: true, Showing: shownHits, Hint: "give pageSize to see all of a page"}
}

// pages asks for one page of hits.
type pages func(ctx context.Context, page, size int) (kernel.FoundPage, error)

// filter is what hits have to pass. The zero value lets everything pass.
type filter struct {
	each func(kernel.Found) bool // one by one; nil passes all
	all  func([]kernel.Found) []kernel.Found
	// hidden says that some notebook may not be read, so that the kernel's own totals count what it found in texts that
	// must not show.
	hidden bool
}

// fetch is a page of what may be read and passes a filter. Where nothing has
// to be left out it is the kernel's own page, for one request. Else all pages are asked for, up
// to a limit, and the totals are those of what is left.
func fetch(ctx context.Context, r *action.Request, ask pages, page, size int, only filter, withMarks bool) (list, error) {
	if only.each == nil && !only.hidden {
		out, all, err := kernelPageOf(ctx, r, ask, page, size, withMarks)
		if err != nil || all {
			return out, err
		}
	}
	return filtered(ctx, r, ask, page, size, only, withMarks)
}

// kernelPageOf is one page as the kernel has it. all is false if something in it may not be
// read, so that its totals are wrong.
func kernelPageOf(ctx context.Context, r *action.Request, ask pages, page, size int, withMarks bool) (out list, all bool, err error) {
	got, page, err := existing(ctx, ask, page, size)
	if err != nil {
		return list{}, false, err
	}
	kept, dropped := readable(r, got.Blocks)
	if dropped > 0 {
		return list{}, false, nil
	}
	total := got.Matched
	if got.Pages <= 1 { // what the index holds twice was counted twice
		hits, _ := ungroup(kept)
		total = len(hits)
	}
	count := max(1, got.Pages)
	out.Pages = action.Pages{Total: total, Page: page, PageSize: size, PageCount: count, HasNextPage: page < count}
	out.Mode = "kernel"
	return out, true, out.show(ctx, r, kept, withMarks)
}

// existing is a page, the last one instead of one beyond the end. There the kernel answers a page without hits,
// in which its totals may be missing as well, or fails.
func existing(ctx context.Context, ask pages, page, size int) (kernel.FoundPage, int, error) {
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

func filtered(ctx context.Context, r *action.Request, ask pages, page, size int, only filter, withMarks bool) (list, error) {
	var kept []kernel.Found
	documents, seen := map[kernel.ID]kernel.Found{}, map[kernel.ID]bool{}
	incomplete, requests := false, mostPages
	if only.hidden {
		requests = mostCleaned
	}
	for n := 1; ; n++ {
		got, err := ask(ctx, n, kernelPage)
		if err != nil {
			return list{}, err
		}
		may, _ := readable(r, got.Blocks)
		hits, groups := ungroup(may)
		maps.Copy(documents, groups)
		for _, f := range hits {
			if !seen[f.ID] && (only.each == nil || only.each(f)) {
				kept = append(kept, f)
			}
			seen[f.ID] = true
		}
		if n >= got.Pages || only.hidden && len(kept) > mostPages*kernelPage {
			break
		}
		if n == requests {
			incomplete = true
			break
		}
	}
	if only.hidden && len(kept) > mostPages*kernelPage {
		kept, incomplete = kept[:mostPages*kernelPage], true
	}
	if only.all != nil {
		kept = only.all(kept)
	}
	at := action.Paged(kept, page, size)
	out := list{Mode: "post_filtered_window", Incomplete: incomplete}
	out.Pages = at.Pages
	err := out.show(ctx, r, regroup(at.Data, documents), withMarks)
	if incomplete {
		out.Hint = "only the first hits were looked at: narrow the search down"
	}
	return out, err
}

// show puts hits onto a page.
func (l *list) show(ctx context.Context, r *action.Request, found []kernel.Found, withMarks bool) error {
	l.Data, l.shown = cut(slimAll(found, withMarks), !r.Given("pageSize"))
	return place(ctx, r, l.Data)
}

// ungroup takes hits out of the groups of their documents. What is in no group stays as it is.
func ungroup(found []kernel.Found) (hits []kernel.Found, documents map[kernel.ID]kernel.Found) {
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
