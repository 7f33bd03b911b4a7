package promptguard

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kinds is a set of the kinds of words in signs.txt.
type kinds uint64

// signs holds the weights of kinds of words, as signs.txt lists them.
type signs struct {
	weights [64]int
	pairs   []pair
	needed  int
	kind    map[string]kinds

	direct, acts, nobody, telling, asking, conceal, unasked, unseen, readers, vocative, rotated, turned kinds
}

// pair is an additional weight for kinds that occur together.
type pair struct {
	kinds  kinds
	weight int
}

// readSigns parses signs.txt and adds its terms to the trie.
func (t *tables) readSigns(root *trieNode) {
	t.kind = map[string]kinds{}
	kindOf := func(name string) kinds {
		k, ok := t.kind[name]
		if !ok {
			k = kinds(1) << len(t.kind)
			t.kind[name] = k
		}
		return k
	}
	for line := range strings.Lines(signLines) {
		head, terms, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || line[0] == '#' {
			continue
		}
		name, weight, _ := strings.Cut(head, " ")
		points, err := strconv.Atoi(weight)
		if err != nil {
			panic(fmt.Sprintf("promptguard: signs of %s: %v", name, err))
		}
		if name == "needed" {
			t.needed = points
			continue
		}
		if names := strings.Split(name, "+"); len(names) > 1 {
			p := pair{weight: points}
			for _, n := range names {
				p.kinds |= kindOf(n)
			}
			t.pairs = append(t.pairs, p)
			continue
		}
		k := kindOf(name)
		t.weights[bits.TrailingZeros64(uint64(k))] = points
		if terms = strings.TrimSpace(terms); terms == "" {
			continue
		}
		for term := range strings.SplitSeq(terms, ", ") {
			root.add(term).signs |= k
		}
	}
	t.direct, t.nobody, t.telling, t.asking = kindOf("direct"), kindOf("nobody"), kindOf("telling"), kindOf("asking")
	t.conceal, t.unasked, t.unseen = kindOf("conceal"), kindOf("unasked"), kindOf("unseen")
	t.acts = kindOf("send") | kindOf("harm") | kindOf("grant") | kindOf("run") | kindOf("sway") | kindOf("show") | kindOf("quiet") | kindOf("over") | kindOf("do")
	t.readers, t.vocative = kindOf("machine")|kindOf("helper"), kindOf("vocative")
	t.rotated, t.turned = kindOf("rotated"), kindOf("turned")
}

const (
	maxSentence   = 400 // bytes of a sentence
	nearSentence  = 200 // bytes between two sentences that are judged together
	minTransposed = 3   // words in rot13 or backwards
	maxBetween    = 18  // bytes between a negation and the negated word
)

// sign notes that words of these kinds stand from start to end.
func (s *sentences) sign(is kinds, start, end int) {
	if s.signed == 0 {
		s.signedAt = start
	}
	if start-s.signedAt > maxSentence {
		s.weigh()
		s.signedAt = start
	}
	if is&s.rotated != 0 {
		s.rotations++
	}
	if is&s.turned != 0 {
		s.reversals++
	}
	if is&s.nobody != 0 {
		s.nobodyAt = end
	}
	if start-s.nobodyAt <= maxBetween && s.nobodyAt > 0 {
		if is&s.telling != 0 {
			is |= s.conceal
		}
		if is&s.asking != 0 {
			is |= s.unasked
		}
		if start-s.nobodyAt <= 3 {
			is &^= s.acts
		}
	}
	if is&s.acts != 0 && s.beginsClause(start) {
		is |= s.direct
	}
	if is&s.readers != 0 && (s.addressed(end) || s.isSalutation(start)) {
		is |= s.vocative
	}
	if start < s.shown {
		is |= s.unseen
	}
	s.signed |= is
	s.signedTo = end
}

// beginsClause reports whether the word at i begins a sentence or clause, as the verb of an order does.
func (s *sentences) beginsClause(i int) bool {
	for i > 0 && (s.text[i-1] == ' ' || s.text[i-1] == '"' || s.text[i-1] == '*' || s.text[i-1] == '`') {
		i--
	}
	if i == 0 || strings.IndexByte(".!?;:,\n->(/", s.text[i-1]) >= 0 {
		return true
	}
	before := s.text[max(0, i-6):i]
	for _, w := range [...]string{"and", "then", "also", "please", "just", "，", "。", "：", "；", "！", "？", "、", "（", "“", "请", "先", "再", "并", "就", "须", "应", "把", "将", "而"} {
		if strings.HasSuffix(before, w) {
			return true
		}
	}
	return false
}

// isSalutation reports whether the words before i address the word at i, as in "dear".
func (s *sentences) isSalutation(i int) bool {
	before := strings.TrimRight(s.text[max(0, i-20):i], " ")
	for _, w := range [...]string{"dear", "Dear", "hello", "Hello", "Hi", "hey", "Hey", "ttention", "o the", "o any", "or the", "or any", "o all", "or all", "or", "OR", "hichever", "ou are an", "ou are a", "s an", "亲爱的", "给", "致", "作为", "各位", "供", "你是", "你好"} {
		if strings.HasSuffix(before, w) {
			return true
		}
	}
	return false
}

// weigh adds a match if the signs in this sentence and the one before weigh enough.
func (s *sentences) weigh() {
	is := s.signed
	if is == 0 {
		return
	}
	from := s.signedAt
	if s.signedAt-s.beforeTo < nearSentence && s.before != 0 {
		is |= s.before
		from = s.beforeAt
	}
	if score := s.score(is); score >= s.needed {
		weight := suspiciousFrom - discount(s.tables, s.text, from, s.signedTo)
		s.matches.add("order.likely", weight, origin(s.at, from), origin(s.at, s.signedTo))
	}
	s.before, s.beforeAt, s.beforeTo = s.signed, s.signedAt, s.signedTo
	s.signed = 0
}

// score returns the weight of kinds, with pairs.
func (t *signs) score(is kinds) int {
	n := 0
	for k := uint64(is); k != 0; k &= k - 1 {
		n += t.weights[bits.TrailingZeros64(k)]
	}
	for i := range t.pairs {
		if p := &t.pairs[i]; is&p.kinds == p.kinds {
			n += p.weight
		}
	}
	return n
}

// transposed scans text again backwards or in rot13, if enough of its words are known to be written so.
func (f *matches) transposed(text string, rotations, reversals, layer, end int) {
	if rotations >= minTransposed {
		f.scanDecoded(strings.Map(rotate, text), layer, 0, end)
	}
	if reversals >= minTransposed {
		f.scanDecoded(backwards(text), layer, 0, end)
	}
}

// rotate undoes rot13.
func rotate(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

// backwards returns text in reverse order.
func backwards(text string) string {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeLastRuneInString(text)
		out = utf8.AppendRune(out, r)
		text = text[:len(text)-size]
	}
	return string(out)
}
