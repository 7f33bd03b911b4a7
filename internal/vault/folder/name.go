package folder

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"collie/internal/lazyregexp"
	"collie/internal/vault/tree"
)

// maxNameBytes is how long the name of a file or folder gets: short enough that seven levels fit everywhere but on
// Windows without long paths, and that a number and an extension fit behind it.
const maxNameBytes = 120

// device are the names that are devices on Windows, whatever follows a dot.
var device = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)`)

// safeName turns a title into a name that every system can hold, without an extension.
func safeName(title string) string {
	name := tree.Cut(tree.PlainName(norm.NFC.String(strings.ToValidUTF8(title, "_"))), maxNameBytes)
	name = strings.TrimRight(strings.TrimSpace(name), ". ")
	if strings.HasPrefix(name, ".") || device.MatchString(name) {
		name = "_" + name
	}
	if name == "" {
		return "Untitled"
	}
	return name
}

// folded is what names are compared by: systems differ in whether case and composition of letters count. A caser has
// state, so each call has its own.
func folded(name string) string {
	if ascii(name) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// names are the names in one folder.
type names map[string]bool

// document is a free name for a document with a title: name.md and the folder name are both its own.
func (n names) document(title string) string {
	return n.free(safeName(title), "", ".md")
}

// free is stem, or stem (2) and so on, such that none of the names with these extensions is taken. It takes them.
func (n names) free(stem string, exts ...string) string {
	for i := 1; ; i++ {
		name := stem
		if i > 1 {
			name = fmt.Sprintf("%s (%d)", stem, i)
		}
		free := true
		for _, ext := range exts {
			free = free && !n[folded(name+ext)]
		}
		if free {
			for _, ext := range exts {
				n[folded(name+ext)] = true
			}
			return name
		}
	}
}

// nameID is the id behind the name of an asset.
var nameID = lazyregexp.New(`-\d{14}-[0-9a-z]{7}$`)

const maxExt = 32 // bytes

// assetStem splits the name of a file into what the name of an asset may hold: the id goes between the two.
func assetStem(name string) (stem, ext string) {
	name = strings.NewReplacer("#", "", "%", "").Replace(tree.PlainName(name))
	// What Markdown takes for the end of an address, or for an escape, does not go into one.
	name = strings.NewReplacer("(", "_", ")", "_", "[", "_", "]", "_", "'", "_", "{", "_", "}", "_").Replace(name)
	ext = path.Ext(name)
	if len(ext) > maxExt {
		ext = ""
	}
	stem = strings.TrimSpace(nameID.ReplaceAllString(strings.TrimSuffix(name, ext), ""))
	return tree.Cut(strings.TrimLeft(stem, ". "), maxNameBytes), strings.TrimRight(ext, " .")
}
