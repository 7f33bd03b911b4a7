package file

import (
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"collie/internal/lazyregexp"
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
)

const (
	maxName = 255  // bytes of one name
	maxPath = 4096 // bytes of a path
)

// confine makes the path of a call absolute within the workspace. One that leads out of it, even to come back, ends the
// call.
func confine(req api.Request, p string) string {
	if escapes(p) {
		req.End(api.Fail(http.StatusForbidden, "permission denied"))
		return "/"
	}
	return path.Clean("/" + p)
}

// escapes reports whether a path leads above where it begins.
func escapes(p string) bool {
	depth := 0
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// reserved are the names that are devices on Windows, whatever follows a dot.
var reserved = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)`)

// storable reports whether a file may be made at a confined path: every system must be able to hold it, since a
// workspace may be taken out of the vault.
func storable(p string) bool {
	if len(p) > maxPath || !utf8.ValidString(p) {
		return false
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(p, "/"), "/") {
		if name == "" || len(name) > maxName || strings.ContainsAny(name, `:?*"<>|\`) || strings.ContainsFunc(name, hidden) ||
			strings.HasSuffix(name, ".") || strings.HasPrefix(name, " ") || strings.HasSuffix(name, " ") || reserved.MatchString(name) {
			return false
		}
	}
	return true
}

// hidden are characters that no path may hold. SiYuan takes a byte order mark in one.
func hidden(r rune) bool {
	return tree.Unseen(r) && r != '\ufeff'
}

// readable reports whether there can be something at a path at all.
func readable(p string) bool {
	return len(p) <= maxPath && utf8.ValidString(p) && !strings.ContainsRune(p, 0)
}

// assetFile returns the path of the file an address such as assets/a.png names, below data/assets or the folder
// assets of a notebook or document; ok is false for everything else, the folders themselves included.
func assetFile(address string) (p string, ok bool) {
	if strings.HasPrefix(address, "/") || address != path.Clean(address) {
		return "", false
	}
	p = "/data/" + address
	return p, storable(p) && inAssets(p) && !isAssetFolder(p)
}

// inAssets reports whether a confined path is a folder of assets or lies in one.
func inAssets(p string) bool {
	rest, inData := strings.CutPrefix(p, "/data/")
	for inData && rest != "" {
		name, below, _ := strings.Cut(rest, "/")
		if name == "assets" {
			return true
		}
		if !tree.ValidID(name) {
			return false
		}
		rest = below
	}
	return false
}

// isAssetFolder reports whether a path that inAssets knows is the folder assets itself.
func isAssetFolder(p string) bool { return path.Base(p) == "assets" && !inAssets(path.Dir(p)) }

// fromShown returns the workspace path for a path that an answer has shown, such as that of a template.
func fromShown(p string) (inside string, ok bool) {
	inside, ok = strings.CutPrefix(path.Clean(p), api.Root+"/")
	return "/" + inside, ok && !escapes(p)
}
