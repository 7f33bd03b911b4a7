package search

import (
	"context"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

const (
	kernelPage = 128 // most hits that one request asks for
	mostPages  = 8   // requests that one call makes to filter hits itself
	shownHits  = 20  // hits shown of a page whose size the caller left open (T(20))
)

// list is a page of hits with what says how it came about.
type list struct {
	action.Page[hit]
	shown
	Mode       string `json:"paginationMode,omitempty"`
	Incomplete bool   `json:"incomplete,omitempty"`
}

// shown says whether a page is shown whole (0.4).
type shown struct {
	Truncated bool   `json:"truncated"`
	Showing   int    `json:"showing"`
	Hint      string `json:"hint,omitempty"`
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

// fetch is a page of what may be read and passes keep; nil keeps everything. Where nothing has
// to be left out it is the kernel's own page, for one request. Else all pages are asked for, up
// to a limit, and the totals are those of what is left (R-1-29).
func fetch(ctx context.Context, r *action.Request, ask pages, page, size int, keep func(kernel.Found) bool, withMarks bool) (list, error) {
	if keep == nil {
		out, all, err := kernelPageOf(ctx, r, ask, page, size, withMarks)
		if err != nil || all {
			return out, err
		}
	}
	return filtered(ctx, r, ask, page, size, keep, withMarks)
}

// kernelPageOf is one page as the kernel has it. all is false if something in it may not be
// read, so that its totals are wrong.
func kernelPageOf(ctx context.Context, r *action.Request, ask pages, page, size int, withMarks bool) (out list, all bool, err error) {
	got, err := ask(ctx, page, size)
	if err == nil && page > got.Pages && got.Pages > 0 { // beyond the end is the last one (0.4)
		page = got.Pages
		got, err = ask(ctx, page, size)
	}
	if err != nil {
		return list{}, false, err
	}
	kept, dropped := readable(r, got.Blocks)
	if dropped > 0 {
		return list{}, false, nil
	}
	out.Page = action.Page[hit]{
		Data: slimAll(kept, withMarks), Total: got.Matched, PageSize: size, PageCount: max(1, got.Pages),
	}
	out.Page.Page = min(page, out.PageCount)
	out.HasNextPage = out.Page.Page < out.PageCount
	out.Data, out.shown = cut(out.Data, !r.Given("pageSize"))
	out.Mode = "kernel"
	return out, true, nil
}

func filtered(ctx context.Context, r *action.Request, ask pages, page, size int, keep func(kernel.Found) bool, withMarks bool) (list, error) {
	var kept []kernel.Found
	dropped, incomplete := 0, false
	for n := 1; ; n++ {
		got, err := ask(ctx, n, kernelPage)
		if err != nil {
			return list{}, err
		}
		may, hidden := readable(r, got.Blocks)
		dropped += hidden
		for _, f := range may {
			if keep == nil || keep(f) {
				kept = append(kept, f)
			}
		}
		if n >= got.Pages {
			break
		}
		if n == mostPages {
			incomplete = true
			break
		}
	}
	r.Filtered(dropped)
	at := action.Paged(kept, page, size)
	out := list{Mode: "post_filtered_window", Incomplete: incomplete}
	out.Page = action.Page[hit]{
		Data: slimAll(at.Data, withMarks), Total: at.Total, Page: at.Page, PageSize: at.PageSize, PageCount: at.PageCount, HasNextPage: at.HasNextPage,
	}
	out.Data, out.shown = cut(out.Data, !r.Given("pageSize"))
	if incomplete {
		out.Hint = "only the first hits were looked at: narrow the search down"
	}
	return out, nil
}

// pageFields describe a page of hits.
func pageFields() []action.Field {
	return append(hitFields("data"),
		action.Field{Name: "total", About: "hits on all pages"},
		action.Field{Name: "page", About: "this page"},
		action.Field{Name: "pageSize", About: "hits a page"},
		action.Field{Name: "pageCount", About: "pages"},
		action.Field{Name: "hasNextPage", About: "whether there is another"},
		action.Field{Name: "truncated", About: "whether the page is shown in part"},
		action.Field{Name: "showing", About: "hits shown", Verbose: true},
		action.Field{Name: "hint", About: "how to see more"},
		action.Field{Name: "incomplete", About: "there are too many hits to filter all of them"},
		action.Field{Name: "paginationMode", About: "kernel, or post_filtered_window", Verbose: true},
	)
}
