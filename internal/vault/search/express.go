package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/vault/workspace"
)

// This file finds the blocks that match a parsed expression.

// byExpression finds the blocks that match an expression of SQLite's full text search. As in a kernel's index, every
// character is a word: a text is found anywhere, and a trailing star changes nothing. An invalid expression finds
// nothing. As in SiYuan, the expression is the content of an SQL string: quotes in it must be doubled, and a single one
// finds nothing.
func byExpression(tx *workspace.Tx, text string) (source, marker) {
	if strings.Contains(strings.ReplaceAll(text, "''", ""), "'") {
		return source{}, wordMarker(nil)
	}
	text = strings.ReplaceAll(text, "''", "'")
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return source{}, wordMarker(nil)
	}
	e, err := parseExpression(text)
	if err != nil {
		return source{}, wordMarker(nil)
	}
	x := expressionLookup{tx: tx, phrases: map[columnPhrase]*bitset{}}
	return numberSource(x.blocks(e).numbers()), wordMarker(e.markedTexts())
}

// expressionLookup looks up the parts of one expression.
type expressionLookup struct {
	tx      *workspace.Tx
	phrases map[columnPhrase]*bitset // results of earlier look-ups
}

// columnPhrase is a phrase to look up in some columns.
type columnPhrase struct {
	phrase
	columns columns
}

// blocks returns the blocks that match an expression. The caller may change the set.
func (x expressionLookup) blocks(e *expression) *bitset {
	if e.op == opNear {
		return x.group(e)
	}
	matches := x.blocks(e.left)
	if e.op == opAnd && matches.empty() {
		return matches
	}
	rightMatches := x.blocks(e.right)
	switch e.op {
	case opAnd:
		matches.intersect(rightMatches)
	case opOr:
		matches.union(rightMatches)
	default:
		matches.subtract(rightMatches)
	}
	return matches
}

// group returns the blocks that contain all phrases of a group. Several phrases must be near each other in one text.
func (x expressionLookup) group(e *expression) *bitset {
	matches := &bitset{}
	if e.isEmpty() || e.columns == 0 {
		return matches
	}
	var phrases []phrase
	for _, p := range e.phrases {
		if p.text != "" {
			phrases = append(phrases, p)
		}
	}
	for i, p := range phrases {
		if hits := x.phrase(columnPhrase{p, e.columns}); i == 0 {
			matches.union(hits)
		} else {
			matches.intersect(hits)
		}
	}
	if len(phrases) == 1 || matches.empty() {
		return matches
	}
	return x.read(matches, e.columns, func(text string) bool { return areNear(text, phrases, e.distance) })
}

// phrase returns the blocks that contain a phrase in its columns.
func (x expressionLookup) phrase(p columnPhrase) *bitset {
	if cached := x.phrases[p]; cached != nil {
		return cached
	}
	matches := &bitset{}
	collect := func(row workspace.Row) bool {
		matches.add(row.Int(0))
		return true
	}
	names := strings.Join(p.columns.names(), " ")
	if utf8.RuneCountInString(p.text) >= trigram {
		src := indexSource("{"+names+"} : "+indexPhrase(p.text), everywhere)
		x.tx.Rows(collect, src.statement, src.args...)
	} else { // a short text: all trigrams that begin with it
		from, to := startingWith(p.text)
		x.tx.Rows(collect, "SELECT doc AS n FROM block_terms WHERE term >= ? AND term < ? AND instr(?, ' ' || col || ' ')",
			from, to, " "+names+" ")
	}
	switch folded := foldCase(p.text); {
	case p.first:
		matches = x.read(matches, p.columns, func(text string) bool { return strings.HasPrefix(text, folded) })
	case strings.HasSuffix(folded, " "): // the index has blanks after each text
		matches = x.read(matches, p.columns, func(text string) bool { return strings.Contains(text, folded) })
	}
	x.phrases[p] = matches
	return matches
}

// read reads the candidates and returns those with a matching text in the searched columns. match gets texts in lower
// case.
func (x expressionLookup) read(candidates *bitset, searched columns, match func(text string) bool) *bitset {
	matches := &bitset{}
	src := numberSource(candidates.numbers())
	if src.statement == "" {
		return matches
	}
	x.tx.Rows(func(row workspace.Row) bool {
		for i := range columnNames {
			if searched&(1<<i) != 0 && match(foldCase(row.Text(i+1))) {
				matches.add(row.Int(0))
				break
			}
		}
		return true
	}, "SELECT node.n, "+strings.Join(columnNames[:], ", ")+" FROM ("+src.statement+") AS s CROSS JOIN node ON node.n = s.n", src.args...)
	return matches
}

// names returns the columns by name.
func (c columns) names() (list []string) {
	for i, name := range columnNames {
		if c&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// areNear reports whether a folded text contains all phrases near each other, by the rule of SQLite: at most within
// characters lie between the phrase that begins last and each other one.
func areNear(text string, phrases []phrase, within int) bool {
	places := make([][]int, len(phrases))
	lengths := make([]int, len(phrases))
	runes := []rune(text)
	for i, p := range phrases {
		sought := []rune(foldCase(p.text))
		lengths[i] = len(sought)
		for at := 0; at+len(sought) <= len(runes) && (at == 0 || !p.first); at++ {
			if slices.Equal(runes[at:at+len(sought)], sought) {
				places[i] = append(places[i], at)
			}
		}
		if places[i] == nil {
			return false
		}
	}
	for i := range places { // the phrase that begins last
		for _, last := range places[i] {
			together := true
			for j := range places {
				together = together && someBetween(places[j], last-lengths[j]-within, last)
			}
			if together {
				return true
			}
		}
	}
	return false
}

// someBetween reports whether a sorted list has a number in [from, to].
func someBetween(sorted []int, from, to int) bool {
	i, _ := slices.BinarySearch(sorted, from)
	return i < len(sorted) && sorted[i] <= to
}
