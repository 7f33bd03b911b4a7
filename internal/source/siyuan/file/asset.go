package file

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
)

// This file parses the paths of assets, in the spellings that documents use.

// assetPath is the parsed path of an asset, as a caller or a document writes it.
type assetPath struct {
	given    string
	plain    string    // the path with percent-encoded characters decoded
	notebook kernel.ID // notebook whose folder it is in; empty for the common folder
}

// parseAsset parses "assets/…" and "<notebook>/…/assets/…", or returns what is wrong. A space may be written as in
// Markdown: "assets/a%20b.png".
func parseAsset(text string) (assetPath, string) {
	a := assetPath{given: text, plain: text}
	names, wrong := datafile.Check(text)
	if wrong != "" {
		return assetPath{}, wrong
	}
	if datafile.HasEncodedChar(text) {
		return assetPath{}, "has an encoded character that no asset has"
	}
	if decoded, err := url.PathUnescape(text); err == nil && decoded != text {
		if names, wrong = datafile.Check(decoded); wrong != "" {
			return assetPath{}, wrong
		}
		a.plain = decoded
	}
	at := slices.Index(names, "assets")
	if at < 0 || at == len(names)-1 {
		return assetPath{}, "is not below a folder assets/"
	}
	for _, name := range names[:at] {
		if !kernel.ID(name).Valid() {
			return assetPath{}, "is not in the assets folder of the workspace, of a notebook or of a document"
		}
	}
	if at > 0 {
		a.notebook = kernel.ID(names[0])
	}
	return a, ""
}

// files returns the paths below data/ where the asset may be, the more likely one first.
func (a assetPath) files() []string {
	if a.plain == a.given {
		return []string{a.given}
	}
	return []string{a.given, a.plain}
}

// spellings returns the ways in which documents write the asset.
func (a assetPath) spellings() []string {
	var out []string
	for _, p := range []string{a.given, a.plain, action.AssetTail(a.given), action.AssetTail(a.plain)} {
		escaped := (&url.URL{Path: p}).EscapedPath()
		for _, s := range []string{p, strings.ReplaceAll(p, " ", "%20"), escaped, strings.ToLower(escaped)} {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// isAddress reports whether an address in a document refers to the asset.
func (a assetPath) isAddress(address string) bool {
	for _, form := range action.AssetReadings(address) {
		if slices.Contains([]string{a.given, a.plain, action.AssetTail(a.given), action.AssetTail(a.plain)}, form) {
			return true
		}
	}
	return false
}

const assetHint = `expected assets/name.ext or NOTEBOOK/…/assets/name.ext; file(action="get_doc_assets", id="…") shows the paths`

// locateAsset finds the file of an asset, by its literal name first. A folder of that name is not an asset.
func locateAsset(ctx context.Context, r *action.Request, a assetPath) (*datafile.Entry, error) {
	if a.notebook != "" && !r.Readable(a.notebook) {
		return nil, access.NotFound(access.Asset, a.given)
	}
	for _, path := range a.files() {
		e, err := datafile.Locate(ctx, r.Kernel, path)
		if err != nil {
			return nil, err
		}
		if e != nil && !e.Folder {
			return e, nil
		}
	}
	return nil, access.NotFound(access.Asset, a.given)
}

// namedAsset returns the path below data/ of the asset that an argument names. Its [action.Need] has been checked
// before.
func namedAsset(ctx context.Context, r *action.Request, path string) (string, error) {
	a, wrong := parseAsset(path)
	if wrong != "" {
		return "", datafile.BadPathError(path, wrong, assetHint)
	}
	e, err := locateAsset(ctx, r, a)
	if err != nil {
		return "", err
	}
	return e.Path, nil
}
