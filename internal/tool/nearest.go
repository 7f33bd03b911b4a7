package tool

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestName bounds what Nearest compares, in runes: a longer name is not a misspelling, and
// the cost grows with the product of two lengths.
const longestName = 64

// Nearest returns the name in known that name most likely stands for, or false if none is
// near. Names that differ only in case, "_", "-" or " " come first, then the fewest
// insertions, deletions, replacements and swaps of neighbours (one for a short name, three
// at most), then a name that begins with the other, from three letters or two Chinese
// characters on. The earlier one in known wins a draw. Last comes the only name of several
// words of which name is one, as get_version for version. A name that is known is its own
// nearest.
func Nearest(name string, known []string) (best string, ok bool) {
	n := utf8.RuneCountInString(name)
	if n == 0 || n > longestName {
		return "", false
	}
	want := []rune(plain(name))
	least := 1 + (n-1)/4 // edits that are too many, lowered by each candidate
	least = min(least, 3) + 1
	for _, k := range known {
		if k == name {
			return k, true
		}
		if utf8.RuneCountInString(k) > longestName {
			continue
		}
		// A candidate all of whose runes were replaced has nothing to do with the name.
		have := []rune(plain(k))
		if d := edits(want, have); d < least && d < max(len(want), len(have)) {
			best, least, ok = k, d, true
		}
	}
	if ok {
		return best, true
	}
	for _, k := range known {
		if extends(plain(k), string(want)) || extends(string(want), plain(k)) {
			return k, true
		}
	}
	return hasWord(name, known)
}

// hasWord finds the only name of several words of which name is one: get_version for version.
func hasWord(name string, known []string) (found string, ok bool) {
	if utf8.RuneCountInString(name) < 3 {
		return "", false
	}
	parted := func(r rune) bool { return r == '_' || r == '-' || r == ' ' }
	for _, k := range known {
		if !slices.ContainsFunc(strings.FieldsFunc(k, parted), func(w string) bool { return strings.EqualFold(w, name) }) {
			continue
		}
		if ok {
			return "", false
		}
		found, ok = k, true
	}
	return found, ok
}

// plain is name without what people mix up.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// extends reports whether long begins with a short that is long enough to mean something: three
// letters, or two characters of a script in which two are a word.
func extends(long, short string) bool {
	return (utf8.RuneCountInString(short) >= 3 || len(short) >= 6) && strings.HasPrefix(long, short)
}

// edits is the optimal string alignment distance of a and b: the Damerau-Levenshtein
// distance in which no part is edited twice.
func edits(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			d := last[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
