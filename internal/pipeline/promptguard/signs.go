package promptguard

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kinds is a set of kinds of words that signs.txt lists.
type kinds uint64

// signs are what is known of kinds of words.
type signs struct {
	weights [64]int
	pairs   []pair
	needed  int
	kind    map[string]kinds

	direct, acts, nobody, telling, asking, conceal, unasked, unseen, readers, vocative, rotated, turned kinds
}

// pair is kinds that weigh more or less where they stand together.
type pair struct {
	of     kinds
	weight int
}

func (t *tables) readSigns(root *twig) {
	t.kind = map[string]kinds{}
	of := func(name string) kinds {
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
				p.of |= of(n)
			}
			t.pairs = append(t.pairs, p)
			continue
		}
		k := of(name)
		t.weights[bits.TrailingZeros64(uint64(k))] = points
		if terms = strings.TrimSpace(terms); terms == "" {
			continue
		}
		for term := range strings.SplitSeq(terms, ", ") {
			root.add(term).signs |= k
		}
	}
	t.direct, t.nobody, t.telling, t.asking = of("direct"), of("nobody"), of("telling"), of("asking")
	t.conceal, t.unasked, t.unseen = of("conceal"), of("unasked"), of("unseen")
	t.acts = of("send") | of("harm") | of("grant") | of("run") | of("sway") | of("show") | of("quiet") | of("over") | of("do")
	t.readers, t.vocative = of("machine")|of("helper"), of("vocative")
	t.rotated, t.turned = of("rotated"), of("turned")
}

const (
	maxSentence  = 400 // bytes that are judged together
	nearSentence = 200 // bytes between a sentence and the one before it that is judged with it
	leastTurned  = 3   // words that are written backwards, or with moved letters
	maxBetween   = 18  // bytes between a negation and what it is about
)

// sign notes that words of those kinds stand from start to end.
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
		s.turns++
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
	if is&s.acts != 0 && s.begins(start) {
		is |= s.direct
	}
	if is&s.readers != 0 && (s.addressed(end) || s.called(start)) {
		is |= s.vocative
	}
	if start < s.shown {
		is |= s.tables.unseen
	}
	s.signed |= is
	s.signedTo = end
}

// begins reports whether what stands at i begins a sentence or a part of one, as orders do.
func (s *sentences) begins(i int) bool {
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

// called reports whether what stands at i is spoken to.
func (s *sentences) called(i int) bool {
	before := strings.TrimRight(s.text[max(0, i-20):i], " ")
	for _, w := range [...]string{"dear", "Dear", "hello", "Hello", "Hi", "hey", "Hey", "ttention", "o the", "o any", "or the", "or any", "o all", "or all", "or", "OR", "hichever", "ou are an", "ou are a", "s an", "亲爱的", "给", "致", "作为", "各位", "供", "你是", "你好"} {
		if strings.HasSuffix(before, w) {
			return true
		}
	}
	return false
}

// weigh judges what stands together.
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
		s.found.add("order.likely", weight, origin(s.at, from), origin(s.at, s.signedTo))
	}
	s.before, s.beforeAt, s.beforeTo = s.signed, s.signedAt, s.signedTo
	s.signed = 0
}

func (t *signs) score(is kinds) int {
	n := 0
	for k := uint64(is); k != 0; k &= k - 1 {
		n += t.weights[bits.TrailingZeros64(k)]
	}
	for i := range t.pairs {
		if p := &t.pairs[i]; is&p.of == p.of {
			n += p.weight
		}
	}
	return n
}

// otherwise judges what text says backwards, or with each letter moved by 13, where it has words that are written so.
func (f *found) otherwise(text string, rotations, turns, layer, end int) {
	if rotations >= leastTurned {
		f.inside(strings.Map(rotate, text), layer, 0, end)
	}
	if turns >= leastTurned {
		f.inside(backwards(text), layer, 0, end)
	}
}

func rotate(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

func backwards(text string) string {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeLastRuneInString(text)
		out = utf8.AppendRune(out, r)
		text = text[:len(text)-size]
	}
	return string(out)
}
