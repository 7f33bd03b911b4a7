package search

import (
	"encoding/json"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/vault/workspace"
)

// This file finds the blocks that contain words or match a pattern, with an index of trigrams.

// The methods of the full text search. Any other number means the first.
const (
	methodKeyword = iota
	methodSyntax
	methodSQL
	methodRegexp
)

// trigram is the length of the index's words in characters.
const trigram = 3

// source is a SELECT of the numbers of matching blocks as column n, or words that are yet to be looked up. There may be
// duplicates. The zero value selects nothing.
type source struct {
	words     []string // if there are any, the rest is empty
	statement string
	args      []any
	// ranked is the same SELECT with an additional column rank, where smaller is better; "" if there is none. It is a
	// separate statement because ranking takes time.
	ranked string
}

// numberSource returns a source of known numbers.
func numberSource(numbers []int64) source {
	if len(numbers) == 0 {
		return source{}
	}
	data, _ := json.Marshal(numbers)
	return source{statement: "SELECT value AS n FROM json_each(?)", args: []any{string(data)}}
}

// indexSource returns a source of the blocks of a range that match an expression of the index. Only one of all blocks can be
// ranked.
func indexSource(expression string, where span) source {
	if where != everywhere {
		return source{
			statement: "SELECT rowid AS n FROM blocks_fts WHERE blocks_fts MATCH ? AND rowid BETWEEN ? AND ?",
			args:      []any{expression, where.from, where.to},
		}
	}
	return source{
		statement: "SELECT rowid AS n FROM blocks_fts WHERE blocks_fts MATCH ?", args: []any{expression},
		ranked: "SELECT rowid AS n, rank FROM blocks_fts WHERE blocks_fts MATCH ?",
	}
}

// blocksWith returns, as a set, the blocks that matchWords finds. The set is cached in keys, since people turn pages and models
// repeat themselves. After changes of the notes, only the changed blocks are looked up again.
func blocksWith(tx *workspace.Tx, keys *workspace.Keys, where *scope, words []string) *bitset {
	key := strconv.FormatUint(where.closed, 36) + "\n" + strings.Join(words, "\n") // no word has a line break
	cached := keys.Results.Get(key)
	set, _ := cached.Value.(*bitset)
	switch _, short := splitByLength(words); {
	case set == nil || len(cached.Changed) > 0 && len(short) > 0: // short words can only be looked up in all blocks at once
		set = &bitset{}
		set.addAll(tx, matchWords(tx, words, everywhere))
	case len(cached.Changed) == 0:
		return set
	default:
		set = &bitset{words: slices.Clone(set.words)}
		for _, n := range cached.Changed {
			set.remove(n)
		}
		for _, span := range spansOf(cached.Changed) {
			set.addAll(tx, matchWords(tx, words, span))
		}
	}
	if tx.Err() == nil {
		keys.Results.Put(key, set)
	}
	return set
}

// span is a range of block numbers, both ends included.
type span struct{ from, to int64 }

var everywhere = span{math.MinInt64, math.MaxInt64}

// spanGap bounds the gap between two blocks, in numbers, for which they are looked up in one range.
const spanGap = 1024

// spansOf returns ranges that cover all of these blocks. The ranges may contain other blocks too.
func spansOf(numbers []int64) (list []span) {
	for _, n := range slices.Sorted(slices.Values(numbers)) {
		if last := len(list) - 1; last >= 0 && n-list[last].to <= spanGap {
			list[last].to = n
		} else {
			list = append(list, span{n, n})
		}
	}
	return list
}

// matchWords finds the blocks of a range that have all words in a single one of their texts: content, name, alias, memo or tag.
// Words of fewer than three characters are looked up in all blocks.
//
// A word of at least three characters is a phrase of trigrams, and the index finds it exactly. A shorter word, such as
// most Chinese words, is looked up as a prefix in the index's list of trigrams. If there are long words with few hits,
// the texts of those blocks are read instead.
func matchWords(tx *workspace.Tx, words []string, where span) source {
	words = distinctWords(words)
	long, short := splitByLength(words)
	switch {
	case len(words) == 0:
		return source{}
	case len(words) == 1 && len(long) == 1:
		return indexSource(indexPhrase(long[0]), where)
	case len(words) == 1:
		from, to := startingWith(short[0])
		return source{
			statement: "SELECT doc AS n FROM block_terms WHERE term >= ? AND term < ?", args: []any{from, to},
		}
	}
	inContent, elsewhere := findTogether(tx, long, where)
	if len(long) == 0 || len(inContent)+len(elsewhere) > maxScanned {
		for i, word := range short {
			contentHits, otherHits := findPrefix(tx, word)
			if len(long) == 0 && i == 0 {
				inContent, elsewhere = contentHits.numbers(), otherHits.numbers()
				continue
			}
			inContent = slices.DeleteFunc(inContent, func(n int64) bool { return !contentHits.has(n) })
			elsewhere = slices.DeleteFunc(elsewhere, func(n int64) bool { return !otherHits.has(n) })
		}
	} else if len(short) > 0 {
		inContent, elsewhere = nil, append(inContent, elsewhere...)
	}
	// Words found outside of the content may be in different texts.
	return numberSource(append(inContent, withAllWords(tx, elsewhere, words)...))
}

// maxScanned is the largest number of hits of the long words for which their texts are read to find the short ones. For
// more hits it is cheaper to look up the short words in the index.
const maxScanned = 4096

// findTogether looks up long words. It returns the blocks that have all of them in their content, and those that have
// all of them in their other texts, possibly in different ones.
func findTogether(tx *workspace.Tx, words []string, where span) (inContent, elsewhere []int64) {
	if len(words) == 0 {
		return nil, nil
	}
	phrases := make([]string, len(words))
	for i, word := range words {
		phrases[i] = indexPhrase(word)
	}
	condition := " : (" + strings.Join(phrases, " AND ") + ")"
	return selectNumbers(tx, indexSource("content"+condition, where)), selectNumbers(tx, indexSource("{name alias memo tag}"+condition, where))
}

// findPrefix looks up a short word, in contents and in other texts.
func findPrefix(tx *workspace.Tx, word string) (inContent, elsewhere *bitset) {
	inContent, elsewhere = &bitset{}, &bitset{}
	from, to := startingWith(word)
	tx.Rows(func(row workspace.Row) bool {
		if row.Int(1) == 1 {
			inContent.add(row.Int(0))
		} else {
			elsewhere.add(row.Int(0))
		}
		return true
	}, "SELECT doc, col = 'content' FROM block_terms WHERE term >= ? AND term < ?", from, to)
	return inContent, elsewhere
}

// withAllWords returns the blocks of list that have all words in a single text.
func withAllWords(tx *workspace.Tx, list []int64, words []string) []int64 {
	if len(list) == 0 {
		return nil
	}
	folded := make([]string, len(words))
	for i, word := range words {
		folded[i] = foldCase(word)
	}
	return filterTexts(tx, numberSource(list), func(text string) bool {
		text = foldCase(text)
		return !slices.ContainsFunc(folded, func(word string) bool { return !strings.Contains(text, word) })
	})
}

// matchRegexp finds the blocks with a text that matches a pattern. If the pattern begins with a literal text, only
// blocks that contain that text are read.
func matchRegexp(tx *workspace.Tx, pattern *regexp.Regexp) source {
	candidates := source{statement: "SELECT n FROM node"}
	if prefix, _ := pattern.LiteralPrefix(); utf8.RuneCountInString(prefix) >= trigram {
		candidates = indexSource(indexPhrase(prefix), everywhere)
	}
	return numberSource(filterTexts(tx, candidates, pattern.MatchString))
}

// filterTexts returns the candidates with a matching text.
func filterTexts(tx *workspace.Tx, candidates source, match func(text string) bool) []int64 {
	var numbers []int64
	tx.Rows(func(row workspace.Row) bool {
		for column := 1; column <= 5; column++ {
			if text := row.Text(column); text != "" && match(text) {
				numbers = append(numbers, row.Int(0))
				break
			}
		}
		return true
	}, `SELECT node.n, node.content, node.name, node.alias, node.memo, node.tag
		FROM (`+candidates.statement+`) AS s CROSS JOIN node ON node.n = s.n`, candidates.args...)
	return numbers
}

// selectNumbers returns the numbers that a source selects.
func selectNumbers(tx *workspace.Tx, s source) []int64 {
	var list []int64
	tx.Rows(func(row workspace.Row) bool {
		list = append(list, row.Int(0))
		return true
	}, "SELECT n FROM ("+s.statement+")", s.args...)
	return list
}

// indexPhrase quotes a text as an expression of the index.
func indexPhrase(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// startingWith returns the range of terms in the index that begin with a word: from is included, to is not.
func startingWith(word string) (from, to string) {
	from = foldCase(word)
	return from, from + string(unicode.MaxRune)
}

// foldCase converts text to lower case, character by character, as the index does.
func foldCase(text string) string { return strings.Map(unicode.ToLower, text) }

// splitByLength separates words that are at least as long as a trigram from shorter ones.
func splitByLength(words []string) (long, short []string) {
	for _, word := range words {
		if utf8.RuneCountInString(word) >= trigram {
			long = append(long, word)
		} else {
			short = append(short, word)
		}
	}
	return long, short
}

// distinctWords drops duplicate words, ignoring case.
func distinctWords(words []string) []string {
	var distinct []string
	for _, word := range words {
		if !slices.ContainsFunc(distinct, func(k string) bool { return foldCase(k) == foldCase(word) }) {
			distinct = append(distinct, word)
		}
	}
	return distinct
}

// bitset is a set of block numbers, which are small.
type bitset struct{ words []uint64 }

// add adds n and reports whether it is new.
func (b *bitset) add(n int64) bool {
	at := int(n >> 6)
	for at >= len(b.words) {
		b.words = append(b.words, make([]uint64, at+1-len(b.words))...)
	}
	bit := uint64(1) << (n & 63)
	if b.words[at]&bit != 0 {
		return false
	}
	b.words[at] |= bit
	return true
}

// addAll adds what a source selects.
func (b *bitset) addAll(tx *workspace.Tx, src source) {
	if src.statement == "" {
		return
	}
	tx.Rows(func(row workspace.Row) bool {
		b.add(row.Int(0))
		return true
	}, src.statement, src.args...)
}

func (b *bitset) remove(n int64) {
	if at := int(n >> 6); at < len(b.words) {
		b.words[at] &^= 1 << (n & 63)
	}
}

func (b *bitset) empty() bool {
	return !slices.ContainsFunc(b.words, func(word uint64) bool { return word != 0 })
}

// intersect removes from b the numbers that are not in other. Like subtract and union, it works in place.
func (b *bitset) intersect(other *bitset) {
	b.words = b.words[:min(len(b.words), len(other.words))]
	for at := range b.words {
		b.words[at] &= other.words[at]
	}
}

// subtract removes from b the numbers in other.
func (b *bitset) subtract(other *bitset) {
	for at := range min(len(b.words), len(other.words)) {
		b.words[at] &^= other.words[at]
	}
}

// union adds to b the numbers in other.
func (b *bitset) union(other *bitset) {
	if missing := len(other.words) - len(b.words); missing > 0 {
		b.words = append(b.words, make([]uint64, missing)...)
	}
	for at, word := range other.words {
		b.words[at] |= word
	}
}

func (b *bitset) has(n int64) bool {
	at := int(n >> 6)
	return at < len(b.words) && b.words[at]&(1<<(n&63)) != 0
}

// numbers returns the numbers in ascending order.
func (b *bitset) numbers() []int64 {
	var list []int64
	b.each(func(n int64) { list = append(list, n) })
	return list
}

// each calls f for the numbers in ascending order.
func (b *bitset) each(f func(n int64)) {
	for at, word := range b.words {
		for ; word != 0; word &= word - 1 {
			f(int64(at)<<6 | int64(bits.TrailingZeros64(word)))
		}
	}
}
