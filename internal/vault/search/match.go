package search

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/vault/workspace"
)

// The methods of the full text search; any other number is the first.
const (
	methodKeyword = iota
	methodSyntax
	methodSQL
	methodRegexp
)

// trigram is the length of the index's words in characters.
const trigram = 3

// source is a SELECT of the numbers of matching blocks, as column n, with possible duplicates. The zero value selects
// none.
type source struct {
	statement string
	args      []any
	// ranked is the same SELECT with an additional column rank, where smaller is better; "" if there is none. It is a
	// separate statement because ranking takes time.
	ranked string
}

// listed returns a source of known numbers.
func numberSource(numbers []int64) source {
	if len(numbers) == 0 {
		return source{}
	}
	data, _ := json.Marshal(numbers)
	return source{statement: "SELECT value AS n FROM json_each(?)", args: []any{string(data)}}
}

// matching returns a source of what matches an expression of the index.
func indexSource(expression string) source {
	return source{
		statement: "SELECT rowid AS n FROM blocks_fts WHERE blocks_fts MATCH ?", args: []any{expression},
		ranked: "SELECT rowid AS n, rank FROM blocks_fts WHERE blocks_fts MATCH ?",
	}
}

// matchWords finds the blocks that have all words in one of their texts: content, name, alias, memo or tag.
//
// A word of at least three characters is a phrase of trigrams, and is found exactly. A shorter one, as Chinese words
// mostly are, is the beginning of trigrams, of which the index has a list. If the long words have few hits, those are
// searched for the short ones.
func matchWords(tx *workspace.Tx, words []string) source {
	words = distinct(words)
	long, short := splitByLength(words)
	switch {
	case len(words) == 0:
		return source{}
	case len(words) == 1 && len(long) == 1:
		return indexSource(phrase(long[0]))
	case len(words) == 1:
		from, to := startingWith(short[0])
		return source{
			statement: "SELECT doc AS n FROM block_terms WHERE term >= ? AND term < ?", args: []any{from, to},
		}
	}
	inContent, elsewhere := together(tx, long)
	if len(long) == 0 || len(inContent)+len(elsewhere) > maxScanned {
		for i, word := range short {
			content, other := findPrefix(tx, word)
			if len(long) == 0 && i == 0 {
				inContent, elsewhere = content.numbers(), other.numbers()
				continue
			}
			inContent = slices.DeleteFunc(inContent, func(n int64) bool { return !content.has(n) })
			elsewhere = slices.DeleteFunc(elsewhere, func(n int64) bool { return !other.has(n) })
		}
	} else if len(short) > 0 {
		inContent, elsewhere = nil, append(inContent, elsewhere...)
	}
	// Words found outside of the content may be in different texts.
	return numberSource(append(inContent, withAllWords(tx, elsewhere, words)...))
}

// fewHits is up to how many blocks are read rather than looked up once more.
const maxScanned = 4096

// together looks up long words that must be in one text. It returns blocks that have them in their content, and
// blocks that have them elsewhere, perhaps in different texts.
func together(tx *workspace.Tx, words []string) (inContent, elsewhere []int64) {
	if len(words) == 0 {
		return nil, nil
	}
	phrases := make([]string, len(words))
	for i, word := range words {
		phrases[i] = phrase(word)
	}
	all := " : (" + strings.Join(phrases, " AND ") + ")"
	return numbers(tx, indexSource("content"+all)), numbers(tx, indexSource("{name alias memo tag}"+all))
}

// beginning looks up a short word.
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

// verified returns those blocks that have all words in one text.
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

// byRegexp finds the blocks of which a text matches a pattern. If the pattern begins with a literal text, it reads
// only blocks that contain that.
func matchRegexp(tx *workspace.Tx, pattern *regexp.Regexp) source {
	candidates := source{statement: "SELECT n FROM node"}
	if prefix, _ := pattern.LiteralPrefix(); utf8.RuneCountInString(prefix) >= trigram {
		candidates = indexSource(phrase(prefix))
	}
	return numberSource(filterTexts(tx, candidates, pattern.MatchString))
}

// reading returns those candidates of which a text matches.
func filterTexts(tx *workspace.Tx, candidates source, match func(text string) bool) []int64 {
	var found []int64
	tx.Rows(func(row workspace.Row) bool {
		for column := 1; column <= 5; column++ {
			if text := row.Text(column); text != "" && match(text) {
				found = append(found, row.Int(0))
				break
			}
		}
		return true
	}, `SELECT node.n, node.content, node.name, node.alias, node.memo, node.tag
		FROM (`+candidates.statement+`) AS s CROSS JOIN node ON node.n = s.n`, candidates.args...)
	return found
}

// numbers returns what a source selects.
func numbers(tx *workspace.Tx, s source) []int64 {
	var list []int64
	tx.Rows(func(row workspace.Row) bool {
		list = append(list, row.Int(0))
		return true
	}, "SELECT n FROM ("+s.statement+")", s.args...)
	return list
}

// phrase returns a text as an expression of the index.
func phrase(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// startingWith returns the range of index words that begin with a word.
func startingWith(word string) (from, to string) {
	from = foldCase(word)
	return from, from + string(unicode.MaxRune)
}

// fold converts text to lower case, character by character, as the index does.
func foldCase(text string) string { return strings.Map(unicode.ToLower, text) }

// divide separates words that are at least as long as a trigram from shorter ones.
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

// distinct drops duplicate words, ignoring case.
func distinct(words []string) []string {
	var kept []string
	for _, word := range words {
		if !slices.ContainsFunc(kept, func(k string) bool { return foldCase(k) == foldCase(word) }) {
			kept = append(kept, word)
		}
	}
	return kept
}

// bits is a set of block numbers, which are small.
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

func (b *bitset) empty() bool {
	return !slices.ContainsFunc(b.words, func(word uint64) bool { return word != 0 })
}

// keep leaves the intersection with other, drop the difference, and join the union.
func (b *bitset) keep(other *bitset) {
	b.words = b.words[:min(len(b.words), len(other.words))]
	for at := range b.words {
		b.words[at] &= other.words[at]
	}
}

func (b *bitset) subtract(other *bitset) {
	for at := range min(len(b.words), len(other.words)) {
		b.words[at] &^= other.words[at]
	}
}

func (b *bitset) join(other *bitset) {
	if more := len(other.words) - len(b.words); more > 0 {
		b.words = append(b.words, make([]uint64, more)...)
	}
	for at, word := range other.words {
		b.words[at] |= word
	}
}

func (b *bitset) has(n int64) bool {
	at := int(n >> 6)
	return at < len(b.words) && b.words[at]&(1<<(n&63)) != 0
}

// numbers returns the set in order.
func (b *bitset) numbers() []int64 {
	var list []int64
	for at, word := range b.words {
		for i := range int64(64) {
			if word&(1<<i) != 0 {
				list = append(list, int64(at)<<6|i)
			}
		}
	}
	return list
}
