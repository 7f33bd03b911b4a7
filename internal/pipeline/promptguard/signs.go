package promptguard

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file weighs the words of a sentence by the tables signs.txt and words.txt.

// kinds is a set of the kinds of words in signs.txt.
type kinds uint64

// signs holds the weights of kinds of words, as signs.txt lists them.
type signs struct {
	weights [64]int
	pairs   []pair
	needed  int
	words   []int // weights of the terms in words.txt, by their number
	kind    map[string]kinds

	// The kinds that the code refers to. It sets direct, conceal, unasked, unseen, vocative and obliged itself, from where words stand.
	direct, acts, nobody, telling, asking, conceal, unasked, unseen, readers, vocative, obliged, rotated, turned kinds
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
			for _, n := range root.terms(term) {
				n.signs |= k
			}
		}
	}
	t.direct, t.nobody, t.telling, t.asking = kindOf("direct"), kindOf("nobody"), kindOf("telling"), kindOf("asking")
	t.conceal, t.unasked, t.unseen = kindOf("conceal"), kindOf("unasked"), kindOf("unseen")
	t.acts = kindOf("send") | kindOf("harm") | kindOf("grant") | kindOf("run") | kindOf("sway") | kindOf("show") | kindOf("quiet") | kindOf("over") | kindOf("do")
	t.readers, t.vocative = kindOf("machine")|kindOf("helper"), kindOf("vocative")
	t.obliged = kindOf("obliged")
	t.rotated, t.turned = kindOf("rotated"), kindOf("turned")
}

// maxWeighed is the number of terms that words.txt may have.
const maxWeighed = 4096

// readWords parses words.txt and adds its terms to the trie.
func (t *tables) readWords(root *trieNode) {
	t.words = []int{0}
	for line := range strings.Lines(wordLines) {
		at := strings.LastIndexByte(line, ' ')
		if line[0] == '#' || at < 0 {
			continue
		}
		weight, err := strconv.Atoi(strings.TrimSpace(line[at:]))
		if err != nil {
			panic(fmt.Sprintf("promptguard: words: %v", err))
		}
		for _, n := range root.terms(line[:at]) {
			n.word = uint16(len(t.words))
		}
		t.words = append(t.words, weight)
	}
	if len(t.words) > maxWeighed {
		panic("promptguard: there are too many words")
	}
}

const (
	maxSentence   = 400 // bytes of a sentence
	nearSentence  = 200 // bytes between two sentences that are judged together
	minTransposed = 3   // words in rot13 or backwards
	maxBetween    = 18  // bytes between a negation and the negated word
)

// weighWord notes that a term of words.txt stands from start to end. Each counts once in a sentence.
func (s *sentences) weighWord(number uint16, start, end int) {
	s.begin(start)
	if s.seen[number>>6]&(1<<(number&63)) != 0 {
		return
	}
	s.seen[number>>6] |= 1 << (number & 63)
	s.wordWeight += s.words[number]
	s.signedTo = max(s.signedTo, end)
	if s.matches.windows != nil {
		s.matches.numbers = append(s.matches.numbers, number)
	}
}

// begin starts a new sentence at start, unless the present one goes on and is not too long.
func (s *sentences) begin(start int) {
	if !s.inSentence {
		s.inSentence, s.signedAt = true, start
	}
	if start-s.signedAt > maxSentence {
		s.weigh()
		s.inSentence, s.signedAt = true, start
	}
}

// sign notes that words of these kinds stand from start to end.
func (s *sentences) sign(is kinds, start, end int) {
	s.begin(start)
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
		if start-s.nobodyAt <= 3 { // directly behind, as in "never send"
			is &^= s.acts
		}
	}
	if is&s.acts != 0 && s.beginsClause(start) {
		is |= s.direct
	}
	if is&s.readers != 0 && (s.isAddressed(end) || s.isSalutation(start)) {
		is |= s.vocative
	}
	if is&s.readers != 0 && s.isObliged(end) {
		is |= s.obliged
	}
	if start < s.hiddenEnd {
		is |= s.unseen
	}
	s.signs |= is
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

// isObliged reports whether the words before i name readers who are then told to do something, as in
// "agents reading this are asked to".
func (s *sentences) isObliged(i int) bool {
	after := s.text[i:runeStart(s.text, min(len(s.text), i+48))]
	if end := strings.IndexAny(after, ".;!?。；！？\n"); end >= 0 {
		after = after[:end]
	}
	for _, w := range obligations {
		if at := strings.Index(after, w); at >= 0 && !strings.HasPrefix(after[at+len(w):], "not ") && !strings.HasPrefix(after[at+len(w):], "不") {
			return true
		}
	}
	return false
}

// obligations are words between an addressee and the order to it.
var obligations = [...]string{
	" please ", " must ", " should ", " shall ", " have to ", " has to ", " need to ", " needs to ", " is to ", " are to ", " asked to ", " required to ", " ordered to ",
	" obliged to ", " instructed to ", " expected to ", " typically ", " will ", " could you ", " would you ", "请", "必须", "务必", "应", "须", "一律", "需要", "先", "要把", "得把", "会把", "理应",
}

// isSalutation reports whether the words before i address the word at i, as in "dear".
func (s *sentences) isSalutation(i int) bool {
	before := strings.TrimRight(s.text[max(0, i-20):i], " ")
	// Some lack their first letter, which may be a capital: "to the", "attention".
	for _, w := range [...]string{"dear", "Dear", "hello", "Hello", "Hi", "hey", "Hey", "ttention", "o the", "o any", "or the", "or any", "o all", "or all", "or", "OR", "hichever", "ou are an", "ou are a", "s an", "亲爱的", "给", "致", "作为", "各位", "供", "你是", "你好"} {
		if strings.HasSuffix(before, w) {
			return true
		}
	}
	return false
}

// weigh adds a match if the signs and words in this sentence and the one before weigh enough.
func (s *sentences) weigh() {
	if !s.inSentence {
		return
	}
	is, heavy, from := s.signs, s.wordWeight, s.signedAt
	near := s.signedAt-s.previousTo < nearSentence && s.previousTo > 0
	if near {
		is |= s.previousSigns
		heavy += s.previousWeight
		from = s.previousAt
	}
	if m := s.matches; m.windows != nil {
		w := window{is, slices.Clone(m.numbers), discount(s.tables, s.text, from, s.signedTo)}
		if near {
			w.words = append(w.words, m.beforeNumbers...)
		}
		*m.windows = append(*m.windows, w)
		m.beforeNumbers, m.numbers = m.numbers, nil
	}
	if score := heavy + s.score(is); score >= s.needed {
		weight := suspiciousFrom - discount(s.tables, s.text, from, s.signedTo)
		s.matches.add("order.likely", weight, origin(s.at, from), origin(s.at, s.signedTo))
	}
	s.previousSigns, s.previousWeight, s.previousAt, s.previousTo = s.signs, s.wordWeight, s.signedAt, s.signedTo
	s.signs, s.wordWeight, s.inSentence = 0, 0, false
	clear(s.seen[:])
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

// scanTransposed scans text again backwards or in rot13, if enough of its words are known to be written so.
func (f *matches) scanTransposed(text string, rotations, reversals, layer, end int) {
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
