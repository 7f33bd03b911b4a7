package markup_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/test/await"
)

// hostileTexts returns texts that make parsers recurse deeply or scan everything again for each character.
func hostileTexts() map[string]string {
	r := strings.Repeat
	var list strings.Builder
	for i := range 300 {
		list.WriteString(r("  ", i) + "- x\n")
	}
	return map[string]string{
		"quotes": r(">", 4000) + "a", "spaced quotes": r("> ", 4000) + "a", "mixed": r("> - ", 2000) + "a", "items": r("- ", 4000) + "a",
		"numbers": r("1. ", 2000) + "a", "brackets": r("[", 4000), "links": r("[a](", 2000), "images": r("![", 4000),
		"closed": r("[", 2000) + r("]", 2000), "stars": r("*a", 4000), "strong": r("a**b", 4000), "supers": r("{{{row\n", 2000),
		"dollars": r("$a", 4000), "parens": r("((", 4000), "angles": r("<", 4000), "spans": r(`<span data-type="a">`, 1000),
		"tags": r("#a", 4000), "ands": r("&", 4000), "marks": r("==a", 4000), "underscores": r("_a ", 4000),
		"lists": r("**a**{: ", 2000), "cells": "|" + r("a|", 1000) + "\n|" + r("-|", 1000) + "\n|" + r("a|", 1000),
		"carriage returns": r("a\r\n", 20000), "backslashes": r("\\", 4000), "deep list": list.String(), "entities": r("&amp;", 4000),
		"fences": r("```\n", 2000), "soft breaks": r("- a\nb\n", 4000), "carets": r("^a", 4000), "tildes": r("~a", 4000),
		"refs": r("((2024010400000-abcdefg ", 1000), "attribute lists": r("{: id=\"", 2000),
	}
}

// TestHostileText checks that no text takes long, and that at least one of its letters a is still there. The limit is a multiple of
// the time that slow machines need.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(hostileTexts())) {
		text := hostileTexts()[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			root := identifyAll(markup.Parse(text))
			kramdown := markup.Kramdown(root)
			root.Walk(func(b *tree.Block) { markup.Content(b) })
			parsed := time.Since(start)
			_ = markup.SY(&tree.Document{Root: root})
			_ = markup.ParseDOM(markup.DOMs(root.Children))
			_ = markup.ParseDOM(text)
			await.Within(t, fmt.Sprintf("%d bytes (%v until read)", len(text), parsed), time.Since(start), 20*time.Second)
			if want, got := strings.Count(text, "a"), strings.Count(markup.Export(root), "a"); got < min(want, 1) {
				t.Errorf("%d letters became %d: %.80q", want, got, kramdown)
			}
		})
	}
}
