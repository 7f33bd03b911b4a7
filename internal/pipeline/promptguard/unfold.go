package promptguard

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file undoes disguises of text, such as other alphabets, spaced letters and invisible characters.

const (
	minSpaced    = 6 // single letters with gaps that are read as a word
	minTags      = 4 // tag characters
	minZeroWidth = 6 // characters without width within words
	minMixed     = 2 // look-alike letters within Latin words
)

// latinLookalike returns the Latin letter that r looks like, or r.
func latinLookalike(r rune) rune {
	const from, to = "авеёкмнорстухіјѕԁһАВЕКМНОРСТХІЈЅαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abeekmhopctyxijsdhABEKMHOPCTXIJSaeikvoptuxABEZHIKMNOPTYX"
	if r < 0x370 || r > 0x52F {
		return r
	}
	n := 0
	for _, c := range from {
		if c == r {
			return rune(to[n])
		}
		n++
	}
	return r
}

// needsUnfold reports whether unfold would change text. It must be fast, because most texts need no change.
func needsUnfold(text string) bool {
	spaced, last := 0, 0
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b < utf8.RuneSelf {
			switch {
			case !checkedBytes[b]:
			case b == '&' || b == '\\':
				if i+3 < len(text) && referenceLen(text[i:]) > 0 {
					return true
				}
			case i > 0 && i+2 < len(text) && isGap(text[i+2]) && byteKinds[text[i+1]] == letter && byteKinds[text[i-1]] == letter:
				// single letters: every second byte is a gap
				if i-last > 3 {
					spaced = 0
				}
				if last = i; spaced >= minSpaced-2 {
					return true
				}
				spaced++
			}
			continue
		}
		if i+2 >= len(text) {
			continue
		}
		switch c := text[i+1]; b {
		case 0xC2:
			if c == 0xAD {
				return true
			}
		case 0xE2:
			if d := text[i+2]; c == 0x92 && d >= 0xB6 || c == 0x93 && d <= 0xA9 || c == 0x80 && (d >= 0x8B && d <= 0x8F || d >= 0xAA && d <= 0xAE) || c == 0x81 && d >= 0xA0 && d <= 0xAF {
				return true
			}
		case 0xEF:
			if d := text[i+2]; c == 0xBB && d == 0xBF && i > 0 || c == 0xBC && d >= 0xA1 && d <= 0xBA || c == 0xBD && d >= 0x81 && d <= 0x9A {
				return true
			}
		case 0xF3:
			if c == 0xA0 {
				return true
			}
		case 0xF0:
			if c == 0x9D && text[i+2] >= 0x90 && text[i+2] <= 0x9F || c == 0x9F && (text[i+2] == 0x84 || text[i+2] == 0x85) {
				return true
			}
		case 0xCE, 0xCF, 0xD0, 0xD1, 0xD2, 0xD4:
			if i > 0 && byteKinds[text[i-1]] == letter || byteKinds[text[i+2]] == letter {
				return true
			}
		default:
			if b >= 0xE4 && b <= 0xE9 && i+8 < len(text) && isGap(text[i+3]) && beginsHan(text[i+4]) && isGap(text[i+7]) && beginsHan(text[i+8]) {
				return true
			}
		}
	}
	return false
}

// checkedBytes are the ASCII bytes that needsUnfold checks.
var checkedBytes = [256]bool{'&': true, '\\': true, ' ': true, '-': true, '.': true, '*': true}

func beginsHan(b byte) bool { return b >= 0xE4 && b <= 0xE9 }

func isGap(b byte) bool { return b == ' ' || b == '-' || b == '.' || b == '*' }

// unfold returns text as a model reads it: without invisible characters, with tag characters, full-width, styled and
// look-alike letters replaced by ASCII, and with gaps within words removed. It also returns the original offset of each
// byte, nil if text is unchanged. It adds matches for what it finds to f.
func unfold(text string, f *matches) (string, []int32) {
	if !needsUnfold(text) {
		return text, nil
	}
	out, at := make([]byte, 0, len(text)), make([]int32, 0, len(text))
	put := func(r rune, i int) {
		n := len(out)
		for out = utf8.AppendRune(out, r); n < len(out); n++ {
			at = append(at, int32(i))
		}
	}
	var zero, tags, mixed, first int
	previous, flag, joined := ' ', false, 0
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		if r, size = utf8.DecodeRuneInString(text[i:]); i < joined {
			continue
		}
		if r == '&' || r == '\\' {
			if end := referenceLen(text[i:]); end > 0 {
				r, size = unescape(text[i:i+end]), end
			}
		}
		r = unstyle(r)
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		switch {
		case r >= 0xE0000 && r <= 0xE007F:
			if flag {
				continue
			}
			if tags++; tags == 1 {
				first = i
				put(' ', i)
			}
			if r > 0xE0020 && r < 0xE007F || r == 0xE0020 {
				put(r-0xE0000, i)
			}
			continue
		case r == 0x202E || r == 0x202D:
			f.add("hidden.direction", suspiciousFrom, i, i+size)
			continue
		case r == 0xAD || r == 0xFEFF || r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202C || r >= 0x2060 && r <= 0x206F:
			if r != 0xAD && (inWord(previous) && inWord(next) && (previous < 0x80) == (next < 0x80)) {
				zero++
			}
			continue
		case r >= 0xFF10 && r <= 0xFF5A:
			r -= 0xFEE0
		case r >= 0x370 && r <= 0x52F && (isLatin(previous) || isLatin(next)):
			if l := latinLookalike(r); l != r {
				mixed++
				r = l
			}
		}
		flag = r == 0x1F3F4
		if end := spacedEnd(text, i); end > 0 {
			joined = joinLetters(text, i, end, put)
			previous = ' '
			continue
		}
		previous = r
		put(r, i)
	}
	if zero >= minZeroWidth {
		f.add("hidden.width", suspiciousFrom-1, 0, len(text))
	}
	if tags >= minTags {
		f.add("hidden.tags", suspiciousFrom+1, first, len(text))
	}
	if mixed >= minMixed {
		f.add("hidden.script", suspiciousFrom-2, 0, len(text))
	}
	return string(out), append(at, int32(len(text)))
}

// referenceLen returns the length of the character reference of HTML or escape of JSON at the beginning of text, or 0.
func referenceLen(text string) int {
	digits, hex := 0, true
	switch {
	case strings.HasPrefix(text, `\u`) && len(text) >= 6, strings.HasPrefix(text, `\x`) && len(text) >= 4:
		for digits = 2; digits < 6 && (text[1] == 'u' || digits < 4); digits++ {
			if !hexDigit(text[digits]) {
				return 0
			}
		}
		return digits
	case strings.HasPrefix(text, "&#x"), strings.HasPrefix(text, "&#X"):
		digits = 3
	case strings.HasPrefix(text, "&#"):
		digits, hex = 2, false
	default:
		return 0
	}
	from := digits
	for digits < len(text) && digits < 10 && hexDigit(text[digits]) && (hex || text[digits] <= '9') {
		digits++
	}
	if digits == from || digits == len(text) || text[digits] != ';' {
		return 0
	}
	return digits + 1
}

func hexDigit(b byte) bool { return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' }

// unescape returns the character that a reference or escape stands for.
func unescape(text string) rune {
	base := 16
	number := strings.TrimSuffix(strings.TrimLeft(text, `\&#uxX`), ";")
	if text[0] == '&' && text[2]|0x20 != 'x' {
		base = 10
	}
	n, err := strconv.ParseUint(number, base, 32)
	if err != nil || n > unicode.MaxRune {
		return ' '
	}
	return rune(n)
}

// unstyle returns the plain letter for one in bold, in a circle or in another style of Unicode, or r.
func unstyle(r rune) rune {
	letter := rune(-1)
	switch {
	case r < 0x24B6:
		return r
	case r >= 0x1D400 && r < 0x1D6A4:
		letter = (r - 0x1D400) % 52
	case r <= 0x24E9:
		letter = r - 0x24B6
	case r >= 0x1D7CE && r <= 0x1D7FF:
		return '0' + (r-0x1D7CE)%10
	case r >= 0x1F130 && r <= 0x1F189:
		letter = (r - 0x1F130) % 32
	}
	switch {
	case letter < 0 || letter >= 52:
		return r
	case letter >= 26:
		return 'a' + letter - 26
	}
	return 'A' + letter
}

func inWord(r rune) bool { return isLatin(r) || unicode.Is(unicode.Han, r) }

func isLatin(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// spacedEnd returns the end of a run of single letters or Chinese characters with gaps between them that begins at i,
// or 0.
func spacedEnd(text string, i int) int {
	if i > 0 && byteKinds[text[i-1]] == letter {
		return 0
	}
	n, least, end := 0, minSpaced, 0
	for j := i; j < len(text); {
		r, size := utf8.DecodeRuneInString(text[j:])
		if han := unicode.Is(unicode.Han, r); !han && !isLatin(r) && (n == 0 || r != '，') {
			break
		} else if han {
			least = minSpaced - 1
		}
		n++
		j += size
		end = j
		k := j
		for k < len(text) && isGap(text[k]) {
			k++
		}
		if k == j {
			if after, _ := utf8.DecodeRuneInString(text[j:]); inWord(after) {
				n, end = n-1, j-size
			}
			break
		}
		j = k
	}
	if n < least {
		return 0
	}
	return end
}

// joinLetters passes the letters from i to end to put, without gaps; a gap of two or more becomes a space. It returns end.
func joinLetters(text string, i, end int, put func(rune, int)) int {
	for j := i; j < end; {
		r, size := utf8.DecodeRuneInString(text[j:])
		gaps := 0
		for k := j; k < end && isGap(text[k]); k++ {
			gaps++
		}
		if gaps == 0 {
			put(r, j)
			j += size
			continue
		}
		if gaps > 1 {
			put(' ', j)
		}
		j += gaps
	}
	put(' ', end-1)
	return end
}
