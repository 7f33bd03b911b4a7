package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/workspace"
	"collie/test/await"
)

// expressionTexts are the texts in which the expressions below are searched.
var expressionTexts = []string{
	"hello world", "heading of shell", "搜索功能 测试一下", "只有搜索", "只有测试", "the Hello-World of foo_bar baz2", "shell scripts",
	"he said she", "测试 then 搜索", "x搜y", "h e l l o", "a1b2 c3", "AND the rest", `"quoted words" here`, "naïve café",
}

// TestExpressions compares searches by expressions with the answers of a kernel for the same paragraphs. Results are indexes in
// expressionTexts.
func TestExpressions(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.createDocument("Doc", strings.Join(expressionTexts, "\n\n"))
	for query, want := range map[string][]int{
		"hello": {0, 5}, "ell": {0, 1, 5, 6}, "hel*": {0, 1, 5, 6}, "he*": {0, 1, 5, 6, 7, 8, 12, 13}, "h*": {0, 1, 5, 6, 7, 8, 10, 12, 13},
		"lo": {0, 5}, "搜索": {2, 3, 8}, "搜": {2, 3, 8, 9}, "搜*": {2, 3, 8, 9}, "搜索*": {2, 3, 8}, "索功": {2}, "搜索 测试": {2, 8},
		"搜索 AND 测试": {2, 8}, "搜索 OR 测试": {2, 3, 4, 8}, "搜索 NOT 测试": {3}, `"搜索 测试"`: {}, `"搜索功能"`: {2}, "world hello": {0, 5},
		`"hello world"`: {0}, "(hello OR shell) NOT world": {1, 6}, "foo_bar": {5}, "b2": {11}, "1": {11}, "café": {14}, "cafe": {},
		`"quoted wo"*`: {13}, "quo* wor*": {13}, "hel* OR 搜*": {0, 1, 2, 3, 5, 6, 8, 9}, "^hello": {0}, "hello + world": {},
		"NEAR(hello world)": {0, 5}, "NEAR(hello world, 0)": {}, "NEAR(hello world, 1)": {0, 5}, "NEAR(hello hell, 9223372036854775807)": {0, 5}, "NEAR(搜 测, 3)": {}, "NEAR(搜 测, 4)": {2},
		`NEAR("he" "or")`: {0, 5, 13}, "content:he*": {0, 1, 5, 6, 7, 8, 12, 13}, "{content name}:hello": {0, 5}, "- content : hello": {},
		"- {name alias} : hello": {0, 5}, "HELLO": {0, 5}, "hello-world": {}, `"hello-world"`: {5}, "he* NOT hello": {1, 6, 7, 8, 12, 13},
		"h*o": {0, 1, 5, 10, 13}, "*ell": {}, "and": {12}, `"AND"`: {12}, "AND": {}, "hello AND": {}, "NOT hello": {}, `"unclosed`: {},
		"hello)": {}, "()": {}, `""`: {}, `hello "" world`: {0, 5}, "hello.": {}, `"world "`: {5}, `"d "`: {5, 7, 12, 13}, `"- "`: {},
		"(hello) world": {}, "hello (world)": {}, "hello AND (world)": {0, 5}, "he* OR zzz NOT hello": {0, 1, 5, 6, 7, 8, 12, 13},
		"hello OR heading said": {0, 5}, "^搜索 测试": {2}, `hello + " world"`: {0}, "he* + llo": {0, 5}, "markdown:hello": {}, "nosuch:hello": {},
		`hello AND ""`: {}, `hello OR ""`: {0, 5}, `hello NOT ""`: {0, 5}, `"" NOT hello`: {}, "hello * *": {}, "content:(hello OR shell) NOT world": {1, 6},
	} {
		got := []int{}
		for _, b := range v.Ask("/api/search/fullTextSearchBlock", object{"query": query, "method": 1, "types": object{"paragraph": true}}).Get("blocks").Array() {
			got = append(got, slices.Index(expressionTexts, b.Get("markdown").String()))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	for query, want := range map[string]string{
		"(hello OR heading) NOT 搜": "<mark>hello</mark> world", "h*o": "<mark>h</mark>ell<mark>o</mark> w<mark>o</mark>rld",
		`"hello world"`: "<mark>hello world</mark>", "wor*": "hello <mark>wor</mark>ld",
	} {
		if got := v.searchContents(query, object{"method": 1}); len(got) == 0 || !slices.Contains(got, want) {
			t.Errorf("%s: marked as %v, want %s", query, got, want)
		}
	}
}

// naive is an expression with a matcher that uses no index: it reports whether the texts of a block match.
type naive struct {
	text  string
	match func(texts []string) bool
}

// randomExpression returns a random valid expression with some of words. Its matcher takes content, name and memo of a block.
func randomExpression(r *rand.Rand, words []string, depth int) naive {
	word := func() (written, w string) {
		w = words[r.IntN(len(words))]
		switch r.IntN(3) {
		case 0:
			return `"` + w + `"`, w
		case 1:
			return `"` + w + `" *`, w
		default:
			if strings.ContainsAny(w, ` -."_`) {
				return `"` + w + `"*`, w
			}
			return w + "*", w
		}
	}
	// The texts of a block as bits: those in which a word may be found.
	const (
		inContent = 1 << iota
		inName
		inMemo
		inAny = inContent | inName | inMemo
	)
	has := func(in int, w string) func([]string) bool {
		return func(texts []string) bool {
			for i, text := range texts {
				if in&(1<<i) != 0 && strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
					return true
				}
			}
			return false
		}
	}
	if depth == 0 || r.IntN(3) == 0 {
		written, w := word()
		switch r.IntN(5) {
		case 0:
			return naive{"{content memo} : " + written, has(inContent|inMemo, w)}
		case 1:
			return naive{"- content:" + written, has(inName|inMemo, w)}
		case 2:
			return naive{"^" + written, func(texts []string) bool {
				return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(strings.ToLower(text), strings.ToLower(w)) })
			}}
		case 3:
			again, other := word()
			return naive{written + " " + again, func(texts []string) bool { return has(inAny, w)(texts) && has(inAny, other)(texts) }}
		}
		return naive{written, has(inAny, w)}
	}
	a, b := randomExpression(r, words, depth-1), randomExpression(r, words, depth-1)
	left, right := "("+a.text+")", "("+b.text+")"
	switch r.IntN(3) {
	case 0:
		return naive{left + " AND " + right, func(texts []string) bool { return a.match(texts) && b.match(texts) }}
	case 1:
		return naive{left + " OR " + right, func(texts []string) bool { return a.match(texts) || b.match(texts) }}
	}
	return naive{left + " NOT " + right, func(texts []string) bool { return a.match(texts) && !b.match(texts) }}
}

// TestExpressionsFindWhatAScanFinds compares the number of hits of random expressions with a scan of all texts.
func TestExpressionsFindWhatAScanFinds(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	r := rand.New(rand.NewPCG(3, 4))
	letters := []rune("abAB苹果派水 É.-")
	text := func(n int) string {
		var out strings.Builder
		for range n {
			out.WriteRune(letters[r.IntN(len(letters))])
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	var blocks [][]string // content, name and memo
	var lines []string
	for range 200 {
		content := "a" + text(1+r.IntN(20)) + "b"
		lines = append(lines, content)
		blocks = append(blocks, []string{content, "", ""})
	}
	_, ids := v.createDocument("Doc", strings.Join(lines, "\n\n"))
	v.Update(func(tx *workspace.Tx) {
		for i, id := range ids {
			b := tx.Block(id)
			blocks[i][0] = b.Text
			if i%3 == 0 {
				blocks[i][1], blocks[i][2] = text(1+r.IntN(6)), text(1+r.IntN(9))
				b.Attrs["name"], b.Attrs["memo"] = blocks[i][1], blocks[i][2]
			}
		}
	})
	var words []string
	for len(words) < 400 {
		if w := text(1 + r.IntN(5)); w != "" {
			words = append(words, w, w+" ")
		}
	}
	words = append(words, "ab", "苹果", "派", "a", "nothing like it")
	for range 400 {
		e := randomExpression(r, words, 3)
		want := 0
		for _, texts := range blocks {
			if e.match(texts) {
				want++
			}
		}
		body := object{"query": e.text, "method": 1, "types": object{"paragraph": true}}
		if got := v.Ask("/api/search/fullTextSearchBlock", body).Get("matchedBlockCount").Int(); int(got) != want {
			t.Errorf("%s: %d hits, a scan finds %d", e.text, got, want)
		}
	}
}

// TestExpressionsThatAreNone searches by random expressions, most of them invalid, and compares the hits with those of the full
// text table. The vault must accept the same expressions as SQLite.
func TestExpressionsThatAreNone(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.createDocument("Doc", "abc def\n\nabc\n\ndef ghi\n\n搜索者 abc")
	r := rand.New(rand.NewPCG(5, 6))
	pieces := []string{
		"abc", "def", "搜索者", `"abc d"`, `""`, "AND", "OR", "NOT", "NEAR", "(", ")", "{", "}", ":", ",", "+", "*", "-", "^", "content", "memo", "nosuch", "5", ".", `"`,
	}
	accepted := 0
	for range await.Fewer(6000) {
		var parts []string
		for range 1 + r.IntN(7) {
			parts = append(parts, pieces[min(r.IntN(len(pieces)), r.IntN(len(pieces)))])
		}
		query := strings.Join(parts, " ")
		type found struct {
			hits  int
			right bool
		}
		var want found
		v.View(func(tx *workspace.Tx) {
			result, err := tx.Select(fmt.Sprintf("SELECT count(*) FROM blocks_fts WHERE blocks_fts MATCH '%s'", query), 0)
			if want.right = err == nil; want.right {
				count, _ := result.Rows[0][0].(int64)
				want.hits = int(count)
			}
		})
		got := int(v.Ask("/api/search/fullTextSearchBlock", object{"query": query, "method": 1, "types": object{
			"document": true, "paragraph": true,
		}, "paths": []string{v.box}}).Get("matchedBlockCount").Int())
		if want.right {
			accepted++
		}
		if strings.Contains(query, "NEAR (") || strings.Contains(query, "5") {
			continue // distances in NEAR are counted in trigrams by SQLite, and in characters by a kernel and the vault
		}
		if got != want.hits {
			t.Errorf("%s: %d hits, SQLite finds %d (an expression: %t)", query, got, want.hits, want.right)
		}
	}
	if accepted < await.Fewer(500) {
		t.Errorf("only %d of the expressions were right", accepted)
	}
}
