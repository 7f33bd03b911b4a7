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

// This file checks the paths in requests.

const (
	maxName = 255  // bytes of one name
	maxPath = 4096 // bytes of a path
)

// confine makes the path of a request absolute within the workspace. A path that leads out of it, even if it comes
// back, ends the call.
func confine(req api.Request, p string) string {
	if escapes(p) {
		req.End(api.Fail(http.StatusForbidden, "permission denied"))
		return "/"
	}
	return path.Clean("/" + p)
}

// escapes reports whether a path leads above its start.
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

// reserved matches the names of devices on Windows, whatever follows a dot.
var reserved = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)`)

// storable reports whether a file can be created at a confined path. Its names must be valid on every system, since a
// workspace may be exported from the vault.
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

// hidden reports whether a character is invisible and must not be in a path. A byte order mark is allowed, as in
// SiYuan.
func hidden(r rune) bool {
	return tree.IsInvisible(r) && r != '\ufeff'
}

// readable reports whether a path is valid, so that there can be a file at it.
func readable(p string) bool {
	return len(p) <= maxPath && utf8.ValidString(p) && !strings.ContainsRune(p, 0)
}

// assetFile returns the path of the file with an address such as assets/a.png, below data/assets or the folder assets
// of a notebook or document. ok is false for anything else, including these folders themselves.
func assetFile(address string) (p string, ok bool) {
	if strings.HasPrefix(address, "/") || address != path.Clean(address) {
		return "", false
	}
	p = "/data/" + address
	return p, storable(p) && inAssets(p) && !isAssetFolder(p)
}

// inAssets reports whether a confined path is in, or is, a folder of assets.
func inAssets(p string) bool {
	rest, inData := strings.CutPrefix(p, "/data/")
	for inData && rest != "" {
		name, remaining, _ := strings.Cut(rest, "/")
		if name == "assets" {
			return true
		}
		if !tree.ValidID(name) {
			return false
		}
		rest = remaining
	}
	return false
}

// isAssetFolder reports whether a path for which inAssets is true is the folder assets itself.
func isAssetFolder(p string) bool { return path.Base(p) == "assets" && !inAssets(path.Dir(p)) }

// fromAnswer returns the workspace path for a path from an answer, such as that of a template.
func fromAnswer(p string) (inside string, ok bool) {
	inside, ok = strings.CutPrefix(path.Clean(p), api.Root+"/")
	return "/" + inside, ok && !escapes(p)
}
