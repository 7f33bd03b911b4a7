package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/vault/workspace"
)

// byExpression finds the blocks that match an expression of SQLite's full text search. As in a kernel's index every
// character is a word, so a text is found at any place and a trailing star changes nothing. An invalid expression
// finds nothing. As in SiYuan the expression is the content of an SQL string: quotes in it are doubled, and a single
// one finds nothing.
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
	x := expressionLookup{tx: tx, phrases: map[phraseIn]*bitset{}}
	return numberSource(x.blocks(e).numbers()), wordMarker(e.markedTexts())
}

// expressionLookup looks up the parts of one expression.
type expressionLookup struct {
	tx      *workspace.Tx
	phrases map[phraseIn]*bitset // results of earlier look-ups
}

// phraseIn is a phrase in some columns.
type phraseIn struct {
	phraseOf
	columns columns
}

// blocks returns the blocks that match an expression. The caller may change the set.
func (x expressionLookup) blocks(e *expression) *bitset {
	if e.op == opNear {
		return x.group(e)
	}
	found := x.blocks(e.left)
	if e.op == opAnd && found.empty() {
		return found
	}
	right := x.blocks(e.right)
	switch e.op {
	case opAnd:
		found.intersect(right)
	case opOr:
		found.union(right)
	default:
		found.subtract(right)
	}
	return found
}

// group returns the blocks with all phrases of a group; several phrases must be near each other in one text.
func (x expressionLookup) group(e *expression) *bitset {
	found := &bitset{}
	if e.isEmpty() || e.columns == 0 {
		return found
	}
	var phrases []phraseOf
	for _, p := range e.phrases {
		if p.text != "" {
			phrases = append(phrases, p)
		}
	}
	for i, p := range phrases {
		if some := x.phrase(phraseIn{p, e.columns}); i == 0 {
			found.union(some)
		} else {
			found.intersect(some)
		}
	}
	if len(phrases) == 1 || found.empty() {
		return found
	}
	return x.read(found, e.columns, func(text string) bool { return areNear(text, phrases, e.distance) })
}

// phrase returns the blocks with a phrase in some columns.
func (x expressionLookup) phrase(p phraseIn) *bitset {
	if found := x.phrases[p]; found != nil {
		return found
	}
	found := &bitset{}
	collect := func(row workspace.Row) bool {
		found.add(row.Int(0))
		return true
	}
	names := strings.Join(p.columns.names(), " ")
	if utf8.RuneCountInString(p.text) >= trigram {
		src := indexSource("{" + names + "} : " + indexPhrase(p.text))
		x.tx.Rows(collect, src.statement, src.args...)
	} else {
		from, to := startingWith(p.text)
		x.tx.Rows(collect, "SELECT doc AS n FROM block_terms WHERE term >= ? AND term < ? AND instr(?, ' ' || col || ' ')",
			from, to, " "+names+" ")
	}
	switch folded := foldCase(p.text); {
	case p.first:
		found = x.read(found, p.columns, func(text string) bool { return strings.HasPrefix(text, folded) })
	case strings.HasSuffix(folded, " "): // the index has blanks after each text
		found = x.read(found, p.columns, func(text string) bool { return strings.Contains(text, folded) })
	}
	x.phrases[p] = found
	return found
}

// read returns the candidates with a matching text in the searched columns. match gets the texts in lower case.
func (x expressionLookup) read(candidates *bitset, searched columns, match func(text string) bool) *bitset {
	found := &bitset{}
	src := numberSource(candidates.numbers())
	if src.statement == "" {
		return found
	}
	x.tx.Rows(func(row workspace.Row) bool {
		for i := range columnNames {
			if searched&(1<<i) != 0 && match(foldCase(row.Text(i+1))) {
				found.add(row.Int(0))
				break
			}
		}
		return true
	}, "SELECT node.n, "+strings.Join(columnNames[:], ", ")+" FROM ("+src.statement+") AS s CROSS JOIN node ON node.n = s.n", src.args...)
	return found
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

// areNear reports whether a folded text has all phrases near each other, counted as in SQLite: at most within characters
// are between the last one to begin and each other.
func areNear(text string, phrases []phraseOf, within int) bool {
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
