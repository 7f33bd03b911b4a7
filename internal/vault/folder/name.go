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

// maxNameBytes bounds the name of a file or folder, so that seven levels fit into a path everywhere except on Windows
// without long paths, with a number and an extension.
const maxNameBytes = 120

// windowsDevice matches the names of devices on Windows, whatever follows a dot.
var windowsDevice = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)`)

// safeName converts a title to a name, without an extension, that is valid on every system.
func safeName(title string) string {
	name := tree.Cut(tree.PlainName(norm.NFC.String(strings.ToValidUTF8(title, "_"))), maxNameBytes)
	name = strings.TrimRight(strings.TrimSpace(name), ". ")
	if strings.HasPrefix(name, ".") || windowsDevice.MatchString(name) {
		name = "_" + name
	}
	if name == "" {
		return "Untitled"
	}
	return name
}

// foldName returns the form in which names are compared, since on some systems case and the composition of letters do
// not matter.
func foldName(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// folderNames are the used names in one folder, in folded form.
type folderNames map[string]bool

// document returns a free name for a document with a title, both as name.md and as a folder.
func (n folderNames) document(title string) string {
	return n.freeName(safeName(title), "", ".md")
}

// freeName returns stem, or stem (2) and so on, such that the names with all these extensions are free. It marks them
// as used.
func (n folderNames) freeName(stem string, exts ...string) string {
	for i := 1; ; i++ {
		name := stem
		if i > 1 {
			name = fmt.Sprintf("%s (%d)", stem, i)
		}
		free := true
		for _, ext := range exts {
			free = free && !n[foldName(name+ext)]
		}
		if free {
			for _, ext := range exts {
				n[foldName(name+ext)] = true
			}
			return name
		}
	}
}

// nameID matches the id at the end of an asset's name.
var nameID = lazyregexp.New(`-\d{14}-[0-9a-z]{7}$`)

const maxExt = 32 // bytes

// assetStem splits the name of a file into stem and extension, without characters that an asset's name may not have;
// an id goes between the two.
func assetStem(name string) (stem, ext string) {
	name = strings.NewReplacer("#", "", "%", "").Replace(tree.PlainName(name))
	// Characters that Markdown takes for the end of an address, or for an escape, are replaced.
	name = strings.NewReplacer("(", "_", ")", "_", "[", "_", "]", "_", "'", "_", "{", "_", "}", "_").Replace(name)
	ext = path.Ext(name)
	if len(ext) > maxExt {
		ext = ""
	}
	stem = strings.TrimSpace(nameID.ReplaceAllString(strings.TrimSuffix(name, ext), ""))
	return tree.Cut(strings.TrimLeft(stem, ". "), maxNameBytes), strings.TrimRight(ext, " .")
}
