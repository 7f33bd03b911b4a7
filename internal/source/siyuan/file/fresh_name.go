package file

import (
	"path"
	"strings"
	"unicode"

	"collie/internal/lazyregexp"
)

var (
	tailIDs = lazyregexp.New(`([-_ ]*[0-9]{14}-[0-9a-z]{7})+$`)
	tailID  = lazyregexp.New(`[0-9]{14}-[0-9a-z]{7}$`)
)

// freshName is a name for an asset without the id that it may end in. The kernel gives a new asset an id of its own,
// but one whose name has an id already it writes over the asset of that name, whoever uses that.
func freshName(name string) string {
	ext := path.Ext(name)
	return freshStem(strings.TrimSuffix(name, ext)) + ext
}

// freshStem is [freshName] of a name without its ending.
func freshStem(stem string) string {
	fresh := tailIDs.ReplaceAllString(stem, "")
	if fresh == "" {
		fresh = "asset"
	}
	// The kernel takes marks out of names, which can make an id of what is none.
	seen := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_.,", r) {
			return r
		}
		return -1
	}, fresh)
	if tailID.MatchString(seen) {
		fresh += "-copy"
	}
	return fresh
}
