package tool

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file finds the known name that somebody probably meant who wrote an unknown one.

// longestName is the longest name that Nearest compares, in runes. A longer name is not a misspelling, and
// the cost grows with the product of both lengths.
const longestName = 64

// Nearest returns the name in known that name most likely stands for; ok is false if none is close. A name in
// known is its own nearest. Otherwise the candidates rank as follows; the earlier one in known wins a draw:
//
//  1. names that differ only in case, "_", "-" or " ";
//  2. names with the fewest insertions, deletions, replacements and swaps of neighbours: at
//     most one for a short name, at most three for a long one;
//  3. a name that begins with the other, which has at least three letters or two Chinese
//     characters;
//  4. the only known name that has name as one of its words: get_version for version.
func Nearest(name string, known []string) (best string, ok bool) {
	n := utf8.RuneCountInString(name)
	if n == 0 || n > longestName {
		return "", false
	}
	want := []rune(plain(name))
	const runesPerEdit, mostEdits = 4, 3 // so that a name of up to four letters may have one edit, and no name more than three
	// least is the smallest number of edits that is too many; each better candidate lowers it.
	least := min(1+(n-1)/runesPerEdit, mostEdits) + 1
	for _, k := range known {
		if k == name {
			return k, true
		}
		if utf8.RuneCountInString(k) > longestName {
			continue
		}
		// A candidate in which every rune was replaced has nothing to do with the name.
		have := []rune(plain(k))
		if d := editDistance(want, have); d < least && d < max(len(want), len(have)) {
			best, least, ok = k, d, true
		}
	}
	if ok {
		return best, true
	}
	for _, k := range known {
		if hasPrefixLoosely(plain(k), string(want)) || hasPrefixLoosely(string(want), plain(k)) {
			return k, true
		}
	}
	return onlyWithWord(name, known)
}

// onlyWithWord returns the only known name that has name as one of its words: get_version for version.
func onlyWithWord(name string, known []string) (found string, ok bool) {
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

// plain normalizes what people mix up in names: case and separators.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// hasPrefixLoosely reports whether long begins with short, if short has at least three letters or, in scripts where
// two characters are a word, two.
func hasPrefixLoosely(long, short string) bool {
	return (utf8.RuneCountInString(short) >= 3 || len(short) >= 6) && strings.HasPrefix(long, short)
}

// editDistance returns the optimal string alignment distance of a and b: the Damerau-Levenshtein distance without editing
// any part twice.
func editDistance(a, b []rune) int {
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
