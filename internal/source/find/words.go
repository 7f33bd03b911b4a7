package find

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// scanner takes texts apart. It keeps what it made of the last one, to use its memory again.
type scanner struct {
	found []string
	all   bool // idle words too
}

// words are the words of a text, in lower case and without their endings: a run of letters or of digits is one, names
// like readFile and read_file are two. Of Chinese, Japanese and Korean, which have no gaps, each two neighbours are one, and
// a character that stands alone. What a question has around it ("how do I") is left out. The result holds until the next
// call.
func (s *scanner) words(text string) []string {
	s.found = s.found[:0]
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case dense(r):
			n := strings.IndexFunc(text, func(r rune) bool { return !dense(r) })
			if n < 0 {
				n = len(text)
			}
			s.pairs(text[:n])
			text = text[n:]
		case unicode.IsDigit(r):
			n := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsDigit(r) })
			if n < 0 {
				n = len(text)
			}
			s.found = append(s.found, text[:n])
			text = text[n:]
		case unicode.IsLetter(r):
			n := wordEnd(text)
			s.add(text[:n])
			text = text[n:]
		default:
			text = text[size:]
		}
	}
	return s.found
}

// wordEnd is where a word ends that begins a text: before a capital behind a small letter, and before the last of several
// capitals that a small letter follows.
func wordEnd(text string) int {
	var before rune
	start := 0 // of the rune before
	for i, r := range text {
		if r == '\'' || r == '’' { // isn't, page's
			continue
		}
		switch {
		case !unicode.IsLetter(r) || dense(r):
			return i
		case i > 0 && unicode.IsUpper(r) && unicode.IsLower(before):
			return i
		case i > 1 && unicode.IsLower(r) && unicode.IsUpper(before) && start > 0 && upperBefore(text[:start]):
			return start
		}
		before, start = r, i
	}
	return len(text)
}

func upperBefore(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsUpper(r)
}

func (s *scanner) add(word string) {
	word = strings.ToLower(word)
	if i := strings.IndexAny(word, "'’"); i >= 0 {
		word = word[:i]
	}
	if len(word) < 2 || idle[word] && !s.all {
		return
	}
	s.found = append(s.found, stem(word))
}

// stem is a word of English without its ending; others stay as they are.
func stem(word string) string { return english.Stem(word, true) }

// pairs adds the pairs of neighbours in a run of characters.
func (s *scanner) pairs(run string) {
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		s.found = append(s.found, run)
		return
	}
	for begin := 0; ; {
		_, a := utf8.DecodeRuneInString(run[begin:])
		_, b := utf8.DecodeRuneInString(run[begin+a:])
		if pair := run[begin : begin+a+b]; s.all || !idle[pair] {
			s.found = append(s.found, pair)
		}
		if begin += a; begin+b == len(run) {
			return
		}
	}
}

// dense reports whether a character belongs to a script that is written without gaps.
func dense(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// firstSentence parts a text behind its first sentence or line.
func firstSentence(text string) (first, rest string) {
	text = strings.TrimSpace(text)
	for i, r := range text {
		if r == '\n' || r == '。' || r == '！' || r == '；' {
			return text[:i], text[i:]
		}
		if r == '.' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') && i >= 20 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// cut is what of a long text is looked at: what stands far behind says more of how than of what for.
func cut(text string) string {
	const most = 600
	if len(text) <= most {
		return text
	}
	return text[:most+strings.IndexByte(text[most:]+" ", ' ')]
}
