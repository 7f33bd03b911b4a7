package promptguard

import (
	"strings"
	"unicode/utf8"
)

// This file splits a text into sentences and applies the rules of rules.txt to each.

const (
	maxEvents    = 64  // of one sentence; a longer one is judged in parts
	keptEvents   = 16  // carried over to the next part
	around       = 300 // bytes before and after a match in which words such as "attack" reduce its weight
	maxQuoted    = 160 // bytes between a match and the quotation marks around it
	maxTag       = 400 // bytes of an HTML tag that are checked
	maxDiscounts = 16  // matches for which discount is called, since it is slow

	// What discount takes off the points of a match.
	discountQuoted    = 3                  // it is quoted
	discountAboutThem = 2                  // words such as "attack" are near
	discountQuotation = suspiciousFrom + 1 // both, or quoted near words about what is said: what weighs suspiciousFrom counts no more
)

// event is an occurrence of a term.
type event struct {
	classes    classes
	start, end int
	hidden     bool // not visible to a person
}

// sentences reads a text and judges each sentence by the rules.
type sentences struct {
	*tables
	matches   *matches
	text      string
	at        []int32 // offset of each byte in the original text; nil: the same
	list      [maxEvents]event
	n         int
	mask      classes
	hiddenEnd int // end of the text that a person does not see
	discounts int // calls of discount

	// The signs and words in this sentence, and in the one before it.
	inSentence                 bool // a sentence has begun
	signs, previousSigns       kinds
	wordWeight, previousWeight int                     // sum of the weights of words
	seen                       [maxWeighed >> 6]uint64 // words that are in the sum
	signedAt, signedTo         int                     // where the signs and words of this sentence begin and end
	mute                       bool                    // signs and words are not weighed
	previousAt, previousTo     int                     // where those of the sentence before begin and end
	nobodyAt                   int                     // end of the last negation, such as "never"
	rotations, reversals       int                     // words in rot13, and words backwards, so far
}

// origin returns the offset in the original text of byte i.
func origin(at []int32, i int) int {
	if at == nil {
		return i
	}
	return int(at[min(i, len(at)-1)])
}

// judgeText scans the text word by word, and Chinese text character by character, and judges each sentence at its end.
func (s *sentences) judgeText() {
	text := s.text
	for i := 0; i < len(text); {
		b := text[i]
		switch byteKinds[b] {
		case letter:
			i = s.matchWord(i)
		case wide:
			s.matchTerms(i, asWritten)
			_, size := utf8.DecodeRuneInString(text[i:])
			if size == 3 && (text[i:i+3] == "。" || text[i:i+3] == "！" || text[i:i+3] == "？" || text[i:i+3] == "；") {
				s.endSentence()
			}
			i += size
		case stop:
			if i+1 == len(text) || byteKinds[text[i+1]] != letter && text[i+1] < utf8.RuneSelf {
				s.endSentence()
			}
			i++
		case line:
			if i+1 < len(text) && strings.IndexByte("\n-*#|>{}", text[i+1]) >= 0 {
				s.endSentence()
			}
			i++
		case tag:
			s.markHidden(i)
			s.matches.addForgedMark(s.tables, text, i, s.at)
			i++
		default:
			i++
		}
	}
	s.endSentence()
}

// Kinds of bytes.
const (
	other = iota
	letter
	wide // of a character that is not ASCII
	stop
	line
	tag
)

var byteKinds = func() (k [256]uint8) {
	for b := range k {
		switch c := byte(b); {
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z':
			k[b] = letter
		case c >= 0xC0:
			k[b] = wide
		case strings.IndexByte(".!?;", c) >= 0:
			k[b] = stop
		case c == '\n':
			k[b] = line
		case c == '<' || c == '[' || c == '#' || c == '\\' || c == '"':
			k[b] = tag
		}
	}
	return k
}()

// matchWord matches the terms that begin with the word at i and returns the end of the word.
func (s *sentences) matchWord(i int) int {
	if !s.matchTerms(i, asWritten) && i > 0 && s.text[i-1] == '\\' && strings.IndexByte("nrt", s.text[i]) >= 0 {
		return i + 1 // an escape sequence of JSON
	}
	end, digits := i, 0
	for end < len(s.text) && byteKinds[s.text[end]] == letter {
		if s.text[end] <= '9' {
			digits++
		}
		end++
	}
	if digits > 0 && digits < end-i && end-i < 20 {
		s.matchTerms(i, digitsAsLetters)
	}
	return end
}

// leet are the letters that the digits 0 to 9 stand for in "leetspeak".
const leet = "oizeasbtbg"

// How matchTerms reads digits.
const (
	asWritten       = false
	digitsAsLetters = true // as in "1gn0re"; see leet
)

// matchTerms finds the terms that begin at i: it adds one event for all classes that they are of, and weighs them as signs and
// words. It reports whether a term with a class or a sign was found. digits says how digits are read.
func (s *sentences) matchTerms(i int, digits bool) bool {
	at, j := s.enter(s.text, i, digits)
	if at == 0 {
		return false
	}
	text := s.text
	var all classes
	var signs kinds
	last := i // end of the longest term
	for {     // at is the node in the tree of terms that text[i:j] leads to
		if n := s.nodes[at]; n.means != 0 && (n.open || text[j-1] >= utf8.RuneSelf || j == len(text) || byteKinds[text[j]] != letter) {
			m := &s.means[n.means]
			if m.word != 0 && !s.mute {
				s.weighWord(m.word, i, j)
			}
			if m.classes != 0 || m.signs != 0 {
				all |= m.classes
				signs |= m.signs
				for last = j; n.open && last < len(text) && byteKinds[text[last]] == letter; {
					last++
				}
			}
		}
		if j == len(text) {
			break
		}
		b := text[j]
		size := 1
		switch {
		case b >= 'A' && b <= 'Z':
			b |= 0x20
		case digits && b >= '0' && b <= '9':
			b = leet[b-'0']
		case b == ' ' || b == '\n' || b == '-' || b == '_' || b == '\'' || b == '\t':
			b = ' '
			for j+size < len(text) && (text[j+size] == ' ' || text[j+size] == '\n') {
				size++
			}
		}
		if at = s.find(at, b); at == 0 {
			break
		}
		j += size
	}
	if signs != 0 && !s.mute {
		s.sign(signs, i, last)
	}
	if all != 0 {
		s.addEvent(all, i, last)
	}
	return all != 0 || signs != 0
}

// addEvent adds an event, without the classes that a negation before it cancels.
func (s *sentences) addEvent(is classes, start, end int) {
	if is&s.is.mustNot != 0 {
		is &^= s.is.must
	}
	if is&s.is.negatable != 0 && s.isNegated(start) {
		is &^= s.is.negatable
	}
	if s.n == maxEvents {
		s.judgePart()
	}
	s.list[s.n] = event{is, start, end, start < s.hiddenEnd}
	s.n++
	s.mask |= is
	if is&s.is.model != 0 && s.isAddressed(end) {
		s.list[s.n-1].classes |= s.is.addressed
		s.mask |= s.is.addressed
	}
}

// isNegated reports whether the term at i is negated.
func (s *sentences) isNegated(i int) bool {
	before := s.text[runeStart(s.text, max(0, i-24)):i]
	if strings.HasSuffix(before, "not ") || strings.HasSuffix(before, "never ") || strings.HasSuffix(before, "n't ") {
		return true
	}
	at := strings.LastIndex(before, "不")
	return at >= 0 && !strings.ContainsAny(before[at:], "，、：；。,\n")
}

// isAddressed reports whether a comma or colon follows soon after end, as after the name of an addressee.
func (s *sentences) isAddressed(end int) bool {
	after := s.text[end:min(len(s.text), end+20)]
	for i, r := range after { // the limits are bytes: a word or two, or three Chinese characters
		switch r {
		case ':', ',':
			return i < 16
		case '：':
			return i < 12
		case '，':
			return i < 9
		case '.', '"', '\'', '(', '/', '`', '<', '\n', '。', '”', '=':
			return false
		}
	}
	return false
}

// endSentence judges the sentence that ends here, by the weights of its words and by the rules, and begins the next one.
func (s *sentences) endSentence() {
	s.weigh()
	s.applyRules()
	s.n, s.mask = 0, 0
}

// judgePart applies the rules to the events so far, because the list is full in the middle of a sentence, and makes room: only
// the last keptEvents stay.
func (s *sentences) judgePart() {
	s.applyRules()
	copy(s.list[:], s.list[maxEvents-keptEvents:])
	s.n = keptEvents
}

// applyRules applies all rules to the events in the list.
func (s *sentences) applyRules() {
	if s.n == 0 {
		return
	}
	for i := range s.rules {
		if r := &s.rules[i]; r.steps[0].any&s.mask != 0 && r.steps[len(r.steps)-1].any&s.mask != 0 { // cheap: most rules end here
			s.apply(r)
		}
	}
	s.findHiddenOrder()
}

// apply adds a match if the events of the sentence fit the rule.
func (s *sentences) apply(r *rule) {
	if s.matches.has(r.name) {
		return
	}
	for i := range r.steps {
		if r.steps[i].any&s.mask == 0 {
			return
		}
	}
	for _, b := range r.beside {
		if b&s.mask == 0 {
			return
		}
	}
	for i := range s.list[:s.n] {
		if s.list[i].classes&r.steps[0].any == 0 {
			continue
		}
		if end, ok := s.follow(r.steps, i); ok {
			e := &s.list[i]
			weight := r.weight
			if e.hidden {
				s.matches.add("hidden.order", suspiciousFrom, origin(s.at, e.start), origin(s.at, s.list[end].end))
			} else if s.discounts++; s.discounts <= maxDiscounts {
				weight -= discount(s.tables, s.text, e.start, s.list[end].end)
			}
			s.matches.add(r.name, weight, origin(s.at, e.start), origin(s.at, s.list[end].end))
			return
		}
	}
}

// follow matches the steps after the first, which event i matched, and returns the index of the last event.
func (s *sentences) follow(steps []step, i int) (int, bool) {
	if len(steps) == 1 {
		return i, true
	}
	for j := i + 1; j < s.n; j++ {
		gap := s.list[j].start - s.list[i].end
		if gap > steps[0].gap {
			break
		}
		if gap < 0 || s.list[j].classes&steps[1].any == 0 {
			continue
		}
		if end, ok := s.follow(steps[1:], j); ok {
			return end, true
		}
	}
	return 0, false
}

// findHiddenOrder adds a match for a hidden text that speaks to a model and contains an order.
func (s *sentences) findHiddenOrder() {
	if s.mask&s.is.model == 0 || s.mask&s.is.order == 0 {
		return
	}
	for i := range s.list[:s.n] {
		if e := &s.list[i]; e.hidden && e.classes&s.is.model != 0 {
			s.matches.add("hidden.order", suspiciousFrom, origin(s.at, e.start), origin(s.at, s.list[s.n-1].end))
			return
		}
	}
}

// markHidden moves hiddenEnd to the end of the text that markup at i hides from people: an HTML comment, a comment of Markdown,
// an element that is not shown, or the alt text of a picture.
func (s *sentences) markHidden(i int) {
	if i < s.hiddenEnd || s.text[i] != '<' && s.text[i] != '[' {
		return
	}
	text := s.text[i:]
	end := 0
	from, to := 0, "" // the text from this offset up to this mark is hidden
	switch {
	case strings.HasPrefix(text, "<!--"):
		from, to = 4, "-->"
	case strings.HasPrefix(text, "[//]: #"):
		from, to = 7, "\n"
	case text[0] == '<':
		end = strings.IndexByte(text[:min(len(text), maxTag)], '>')
		if end < 0 {
			return
		}
		t := text[:end]
		switch {
		case strings.Contains(t, " alt=\""):
			s.hiddenEnd = max(s.hiddenEnd, i+end)
			return
		case strings.Contains(t, "display:none"), strings.Contains(t, "display: none"), strings.Contains(t, " hidden"), strings.Contains(t, "font-size:0"),
			strings.Contains(t, "font-size:1px"), strings.Contains(t, "color:#fff") && strings.Contains(t, "background"), strings.Contains(t, "opacity:0;"):
			from, to = end, "</"
		default:
			return
		}
	default:
		return
	}
	if end = strings.Index(text[from:], to); end < 0 {
		end = len(text) - from
	}
	s.hiddenEnd = max(s.hiddenEnd, i+from+end)
}

// discount returns how much less a match weighs because the text quotes it or is about attacks.
func discount(t *tables, text string, start, end int) int {
	near := sentences{tables: t, mute: true, matches: &matches{}, text: text[runeStart(text, max(0, start-around)):runeStart(text, min(len(text), end+around))]}
	mentioned := near.mentions(t.is.speech)
	switch quoted := isQuoted(text, start, end); {
	case quoted && mentioned != 0:
		return discountQuotation
	case quoted:
		return discountQuoted
	case mentioned&t.is.strong != 0:
		return discountAboutThem
	}
	return 0
}

// mentions returns those classes of which the text contains terms.
func (s *sentences) mentions(of classes) (is classes) {
	for i := 0; i < len(s.text); {
		switch byteKinds[s.text[i]] {
		case letter, wide:
			s.n, s.mask = 0, 0
			s.matchTerms(i, asWritten)
			is |= s.mask & of
			if byteKinds[s.text[i]] == letter {
				for i < len(s.text) && byteKinds[s.text[i]] == letter {
					i++
				}
				continue
			}
		}
		i++
	}
	return is
}

// runeStart moves i back to the beginning of a character.
func runeStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// isQuoted reports whether the part from start to end is in quotation marks or backticks that are at most maxQuoted
// bytes away. Quotation marks around a JSON value or an HTML attribute do not count.
func isQuoted(text string, start, end int) bool {
	before, after := text[max(0, start-maxQuoted):start], text[end:min(len(text), end+maxQuoted)]
	for _, p := range [...][2]string{{"“", "”"}, {"「", "」"}, {"`", "`"}, {`"`, `"`}} {
		open := strings.LastIndex(before, p[0])
		if open < 0 || !strings.Contains(after, p[1]) || strings.Contains(before[open+len(p[0]):], p[1]) {
			continue
		}
		if p[0] == `"` && strings.Count(text[:start], `"`)%2 == 0 {
			continue
		}
		if lead := strings.TrimRight(before[:open], " "); p[0] == `"` && (strings.HasSuffix(lead, `":`) || strings.HasSuffix(lead, "=")) {
			continue
		}
		return true
	}
	return false
}
