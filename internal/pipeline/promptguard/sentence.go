package promptguard

import (
	"strings"
	"unicode/utf8"
)

const (
	maxEvents  = 64  // of one sentence; of a longer one the last are kept
	keptEvents = 16  // of a sentence that goes on
	around     = 300 // bytes beside a match in which a text may say that it is about attacks
	maxQuoted  = 160 // bytes of a quotation on each side of what was found in it
	maxTag     = 400 // bytes of an HTML tag that are looked at
	maxHeard   = 16  // matches of a text that are looked at whether they are quotations
)

// event is a term in a sentence.
type event struct {
	is         classes
	start, end int
	hidden     bool // no person sees it
}

// sentences reads a text and judges each sentence by the rules.
type sentences struct {
	*tables
	found *found
	text  string
	at    []int32 // where each byte of text was in what was handed in; nil: where it is
	list  [maxEvents]event
	n     int
	mask  classes
	shown int // where what nobody sees ends
	heard int // matches that were looked at whether they are quotations

	// What signs tell of the sentence, and of the one before it.
	signed, before     kinds
	signedAt, signedTo int
	mute               bool
	beforeAt, beforeTo int
	nobodyAt           int
	rotations, turns   int
}

// origin is where a byte of text was in what was handed in.
func origin(at []int32, i int) int {
	if at == nil {
		return i
	}
	return int(at[min(i, len(at)-1)])
}

// read walks through the text, a word or a character at a time.
func (s *sentences) read() {
	text := s.text
	for i := 0; i < len(text); {
		b := text[i]
		switch kind[b] {
		case letter:
			i = s.word(i)
		case wide:
			s.match(i, false)
			_, size := utf8.DecodeRuneInString(text[i:])
			if size == 3 && (text[i:i+3] == "。" || text[i:i+3] == "！" || text[i:i+3] == "？" || text[i:i+3] == "；") {
				s.judge(false)
			}
			i += size
		case stop:
			if i+1 == len(text) || kind[text[i+1]] != letter && text[i+1] < utf8.RuneSelf {
				s.judge(false)
			}
			i++
		case line:
			if i+1 < len(text) && strings.IndexByte("\n-*#|>{}", text[i+1]) >= 0 {
				s.judge(false)
			}
			i++
		case tag:
			s.hide(i)
			s.found.mark(s.tables, text, i, s.at)
			i++
		default:
			i++
		}
	}
	s.judge(false)
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

var kind = func() (k [256]uint8) {
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

// word matches the terms that begin with the word at i and returns its end.
func (s *sentences) word(i int) int {
	if !s.match(i, false) && i > 0 && s.text[i-1] == '\\' && strings.IndexByte("nrt", s.text[i]) >= 0 {
		return i + 1 // an escape of JSON
	}
	end, digits := i, 0
	for end < len(s.text) && kind[s.text[end]] == letter {
		if s.text[end] <= '9' {
			digits++
		}
		end++
	}
	if digits > 0 && digits < end-i && end-i < 20 {
		s.match(i, true)
	}
	return end
}

// leet are the letters that digits stand for.
const leet = "oizeasbtbg"

// match adds an event for the terms that begin at i.
func (s *sentences) match(i int, digits bool) bool {
	at, j := s.enter(s.text, i, digits)
	if at == 0 {
		return false
	}
	text := s.text
	var all classes
	var signs kinds
	last := i
	for {
		if n := s.nodes[at]; n.means != 0 && (n.open || text[j-1] >= utf8.RuneSelf || j == len(text) || kind[text[j]] != letter) {
			all |= s.means[n.means].is
			signs |= s.means[n.means].signs
			for last = j; n.open && last < len(text) && kind[text[last]] == letter; {
				last++
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
		s.event(all, i, last)
	}
	return all != 0 || signs != 0
}

// event adds one, less what a negation before it takes away.
func (s *sentences) event(is classes, start, end int) {
	if is&s.is.mustNot != 0 {
		is &^= s.is.must
	}
	if is&s.is.denied != 0 && s.negated(start) {
		is &^= s.is.denied
	}
	if s.n == maxEvents {
		s.judge(true)
	}
	s.list[s.n] = event{is, start, end, start < s.shown}
	s.n++
	s.mask |= is
	if is&s.is.model != 0 && s.addressed(end) {
		s.list[s.n-1].is |= s.is.addressed
		s.mask |= s.is.addressed
	}
}

// negated reports whether what begins at i is said not to be done.
func (s *sentences) negated(i int) bool {
	before := s.text[whole(s.text, max(0, i-24)):i]
	if strings.HasSuffix(before, "not ") || strings.HasSuffix(before, "never ") || strings.HasSuffix(before, "n't ") {
		return true
	}
	at := strings.LastIndex(before, "不")
	return at >= 0 && !strings.ContainsAny(before[at:], "，、：；。,\n")
}

// addressed reports whether a comma or a colon follows, with a word or two between.
func (s *sentences) addressed(end int) bool {
	after := s.text[end:min(len(s.text), end+20)]
	for i, r := range after {
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

// judge holds the sentence against the rules, and begins the next one unless it goes on.
func (s *sentences) judge(goesOn bool) {
	if !goesOn {
		s.weigh()
	}
	if s.n > 0 {
		for i := range s.rules {
			if r := &s.rules[i]; r.steps[0].any&s.mask != 0 && r.steps[len(r.steps)-1].any&s.mask != 0 {
				s.try(r)
			}
		}
		s.unseen()
	}
	if goesOn {
		copy(s.list[:], s.list[maxEvents-keptEvents:])
		s.n = keptEvents
		return
	}
	s.n, s.mask = 0, 0
}

func (s *sentences) try(r *rule) {
	if s.found.has(r.name) {
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
		if s.list[i].is&r.steps[0].any == 0 {
			continue
		}
		if end, ok := s.follow(r.steps, i); ok {
			e := &s.list[i]
			weight := r.weight
			if e.hidden {
				s.found.add("hidden.order", suspiciousFrom, origin(s.at, e.start), origin(s.at, s.list[end].end))
			} else if s.heard++; s.heard <= maxHeard {
				weight -= discount(s.tables, s.text, e.start, s.list[end].end)
			}
			s.found.add(r.name, weight, origin(s.at, e.start), origin(s.at, s.list[end].end))
			return
		}
	}
}

// follow finds the steps behind the first, which event i is, and returns the last event.
func (s *sentences) follow(steps []step, i int) (int, bool) {
	if len(steps) == 1 {
		return i, true
	}
	for j := i + 1; j < s.n; j++ {
		gap := s.list[j].start - s.list[i].end
		if gap > steps[0].gap {
			break
		}
		if gap < 0 || s.list[j].is&steps[1].any == 0 {
			continue
		}
		if end, ok := s.follow(steps[1:], j); ok {
			return end, true
		}
	}
	return 0, false
}

// unseen finds what speaks to a model where no person looks.
func (s *sentences) unseen() {
	if s.mask&s.is.model == 0 || s.mask&s.is.order == 0 {
		return
	}
	for i := range s.list[:s.n] {
		if e := &s.list[i]; e.hidden && e.is&s.is.model != 0 {
			s.found.add("hidden.order", suspiciousFrom, origin(s.at, e.start), origin(s.at, s.list[s.n-1].end))
			return
		}
	}
}

// hide looks whether what begins at i hides what follows from people.
func (s *sentences) hide(i int) {
	if i < s.shown || s.text[i] != '<' && s.text[i] != '[' {
		return
	}
	text := s.text[i:]
	end, from, to := 0, 0, ""
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
			s.shown = max(s.shown, i+end)
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
	s.shown = max(s.shown, i+from+end)
}

// discount is what a match weighs less because the text quotes it, or is about attacks.
func discount(t *tables, text string, start, end int) int {
	near := sentences{tables: t, mute: true, found: &found{}, text: text[whole(text, max(0, start-around)):whole(text, min(len(text), end+around))]}
	said := near.mentions(t.is.speech)
	switch quoted := quoted(text, start, end); {
	case quoted && said != 0:
		return suspiciousFrom + 1
	case quoted:
		return 3
	case said&t.is.strong != 0:
		return 2
	}
	return 0
}

// mentions are those of the classes that the text has terms of.
func (s *sentences) mentions(of classes) (is classes) {
	for i := 0; i < len(s.text); {
		switch kind[s.text[i]] {
		case letter, wide:
			s.n, s.mask = 0, 0
			s.match(i, false)
			is |= s.mask & of
			if kind[s.text[i]] == letter {
				for i < len(s.text) && kind[s.text[i]] == letter {
					i++
				}
				continue
			}
		}
		i++
	}
	return is
}

// whole moves i back to the beginning of a character.
func whole(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// quoted reports whether start to end stands in quotation marks or backticks that hold little else. The marks around a
// value of JSON or of an HTML attribute are none.
func quoted(text string, start, end int) bool {
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
