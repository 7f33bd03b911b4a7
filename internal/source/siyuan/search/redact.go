package search

import (
	"context"
	"slices"
	"strings"

	"collie/internal/sorting"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// This file removes from hits the text of hidden blocks.

// hiddenTextFilter removes from hits the text of hidden blocks that the kernel shows inside other blocks. The kernel's
// search looks at that text too, so a cleaned hit may have matched only there. It stays only if matches reports that
// the search finds the remaining text. If matches is nil, every cleaned hit is dropped.
type hiddenTextFilter struct {
	r       *action.Request
	matches func(texts []string) bool // nil if unknown for this kind of search
	cleaned map[kernel.ID]bool        // hits that were cleaned, whose position may depend on hidden text
}

// cleanHits returns the remaining hits, cleaned.
func (c *hiddenTextFilter) cleanHits(ctx context.Context, found []kernel.Found) ([]kernel.Found, error) {
	r := c.r
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return found, err
	}
	var texts []string
	for i := range found {
		texts = append(texts, found[i].Markdown)
		for j := range found[i].Children {
			texts = append(texts, found[i].Children[j].Markdown)
		}
	}
	redactor, err := content.NewRedactor(ctx, r, texts...)
	if err != nil {
		return nil, err
	}
	visible := found[:0]
	for _, f := range found {
		if grouped := len(f.Children) > 0; grouped {
			if f.Children = c.cleanEach(redactor, f.Children); len(f.Children) > 0 {
				visible = append(visible, f)
			}
			continue
		}
		visible = append(visible, c.cleanEach(redactor, []kernel.Found{f})...)
	}
	return visible, nil
}

// cleanEach removes hidden text from each hit, and drops hits that the search finds only by it.
func (c *hiddenTextFilter) cleanEach(redactor *content.Redactor, found []kernel.Found) []kernel.Found {
	var cleaned []kernel.Found
	for _, f := range found {
		covered := redactor.HidesAnchorIn(f.Markdown)
		text, markdown := redactor.TextAndMarkdown(f.Type, f.Content, f.Markdown)
		if text == f.Content && !covered {
			cleaned = append(cleaned, f)
			continue
		}
		f.Content, f.Markdown = text, markdown
		if f.RefText != "" {
			f.RefText = text
		}
		if covered {
			f.Tag = ""
		}
		if c.matches == nil || !c.matches([]string{plainOf(f.Name), plainOf(f.Alias), plainOf(f.Memo), plainOf(f.Tag), text, markdown}) {
			continue
		}
		if c.cleaned == nil {
			c.cleaned = map[kernel.ID]bool{}
		}
		c.cleaned[f.ID] = true
		cleaned = append(cleaned, f)
	}
	return cleaned
}

// plainOf returns a text of the kernel without HTML and marks.
func plainOf(marked string) string { return parsePassage(marked).fullText() }

// anyMatch keeps every hit.
func anyMatch([]string) bool { return true }

// newMatcher returns a function that reports whether the texts of a block match a search. It is nil for searches that can
// exclude text: with NOT, or with [^q] in a pattern. There the kernel leaves out a block because of hidden text in it,
// and the missing hit would reveal that text, character by character. If oneWord is set, one of several words is enough.
func newMatcher(method, query string, oneWord bool) func(texts []string) bool {
	switch method {
	case "keyword":
		words := strings.Fields(query)
		return func(texts []string) bool {
			in := func(word string) bool {
				return slices.ContainsFunc(texts, func(text string) bool { return containsFold(text, word) })
			}
			if oneWord {
				return slices.ContainsFunc(words, in)
			}
			return !slices.ContainsFunc(words, func(word string) bool { return !in(word) })
		}
	case "sql": // the statement saw only what readers see
		return anyMatch
	}
	return nil
}

// demoteCleaned moves hits whose text was changed to the end, because their position depended on the hidden text.
func (c *hiddenTextFilter) demoteCleaned(found []kernel.Found) []kernel.Found {
	if len(c.cleaned) > 0 {
		sorting.Stable(found, func(a, b kernel.Found) int { return lastRank(c.cleaned[a.ID]) - lastRank(c.cleaned[b.ID]) })
	}
	return found
}

// lastRank returns the rank by which hits are sorted: 1 for those that come last.
func lastRank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// dropHiddenMatches removes documents that contain all words of a query only together with hidden text. For a query of
// several words, the kernel returns all blocks with one of the words in documents that contain all of them.
func dropHiddenMatches(found []kernel.Found, query string) []kernel.Found {
	words := strings.Fields(query)
	if len(words) < 2 {
		return found
	}
	texts := map[kernel.ID][]string{}
	for i := range found {
		f := &found[i]
		texts[f.Root] = append(texts[f.Root], plainOf(f.Name), plainOf(f.Alias), plainOf(f.Memo), plainOf(f.Tag), plainOf(f.Content), f.Markdown)
	}
	return slices.DeleteFunc(found, func(f kernel.Found) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			return !slices.ContainsFunc(texts[f.Root], func(text string) bool { return containsFold(text, word) })
		})
	})
}
