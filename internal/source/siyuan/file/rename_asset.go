package file

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action file.rename_asset, which renames an asset everywhere.

type renameAssetArgs struct {
	Old  string `json:"oldPath" about:"asset path" req:"true" min:"1"`
	Name string `json:"newName" about:"new name, without folder and id" req:"true" min:"1" max:"200"`
}

type renamedAsset struct {
	Success bool        `json:"success" about:"true"`
	Old     string      `json:"oldPath" about:"path as it was"`
	Name    string      `json:"newName" about:"the name that was asked for"`
	New     string      `json:"newPath" about:"path as it is"`
	Stale   []kernel.ID `json:"staleBlocks,omitempty" about:"blocks that still write the old path"`
	Warning string      `json:"warning,omitempty" about:"what is left to do"`
}

// renameAsset returns the action rename_asset of the tool file.
func renameAsset() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "rename_asset", Purpose: "Rename an asset, in all documents that use it as well",
		Guide:     "The ending stays and the name gets a new id. Needs rw in every notebook that uses it.",
		Dangerous: true, Class: action.State, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs: []action.Need{needsAsset(access.Write, "oldPath")},
		Endpoints: []string{
			"file/readDir", "file/getFile", "query/sql", "asset/getUnusedAssets", "notebook/lsNotebooks", "asset/resolveAssetPath",
			"asset/renameAsset", "block/getBlockDOMs", "block/batchUpdateBlock",
		},
		Aliases:    map[string]string{"path": "oldPath", "name": "newName"},
		Positional: []string{"oldPath", "newName"},
		Result:     renamedAsset{},
		Example:    `{"oldPath":"assets/plan-20240101120000-abcdefg.png","newName":"计划 plan"}`,
		Effect: func(r *action.Request) string {
			return "rename an asset to " + r.Text("newName") + " and change every document that uses it"
		},
	}, func(ctx context.Context, r *action.Request, a renameAssetArgs) (any, error) {
		at, err := namedAsset(ctx, r, a.Old)
		if err != nil {
			return nil, err
		}
		name, err := newStem(r, at, a.Name)
		if err != nil {
			return nil, err
		}
		if err := checkUnambiguous(ctx, r, at); err != nil {
			return nil, err
		}
		renamed, err := r.Kernel.RenameAsset(ctx, action.AssetTail(at), name)
		if err != nil {
			return nil, err
		}
		if renamed == "" {
			return nil, r.Invalid("newName", "has no character that SiYuan keeps in names; expected letters or digits")
		}
		renamed = strings.TrimSuffix(at, action.AssetTail(at)) + renamed
		if err := renamedTo(ctx, r, at, renamed); err != nil {
			return nil, err
		}
		out := renamedAsset{Success: true, Old: a.Old, Name: a.Name, New: renamed}
		if out.Stale, err = rewriteUses(ctx, r, at, renamed); err != nil {
			out.Warning = "the asset was renamed; that some blocks write its old path could not be mended: " + err.Error()
		} else if len(out.Stale) > 0 {
			out.Warning = "blocks still write the old path"
		}
		return out, nil
	})
}

// newStem returns the new name for the kernel: without an extension, which does not change, and without an id, which the
// kernel adds.
func newStem(r *action.Request, at, newName string) (string, error) {
	name := strings.TrimSpace(newName)
	if ext := path.Ext(at); ext != "" && strings.EqualFold(path.Ext(name), ext) {
		name = name[:len(name)-len(ext)] // the kernel adds it again
	}
	if _, wrong := datafile.Check(name); wrong != "" {
		return "", r.Invalid("newName", wrong+"; expected a plain file name")
	}
	if strings.ContainsAny(name, "/%#") {
		return "", r.Invalid("newName", "has a slash, a percent sign or a number sign; expected a plain file name")
	}
	return freshStem(name), nil
}

// checkUnambiguous refuses an asset in the folder of a notebook or document if the kernel would rename another one. The
// kernel gets the path from assets/ on, as documents write it, and the common folder or another notebook may have a
// file with the same path.
func checkUnambiguous(ctx context.Context, r *action.Request, at string) error {
	if action.AssetTail(at) == at {
		return nil
	}
	file, err := r.Kernel.AssetFile(ctx, action.AssetTail(at))
	if err != nil || strings.HasSuffix(file, "/data/"+at) {
		return err
	}
	return r.Conflicting("there is another asset "+action.AssetTail(at)+", which SiYuan would rename instead", "oldPath")
}

// renamedTo checks that the asset exists under its new name, because the kernel reports success for any name.
func renamedTo(ctx context.Context, r *action.Request, old, renamed string) error {
	if _, wrong := parseAsset(renamed); wrong == "" {
		e, err := datafile.Locate(ctx, r.Kernel, renamed)
		if err != nil || e != nil {
			return err
		}
	}
	return &tool.Error{
		Op: "rename", Kind: kernel.Mismatch, Subject: old, OutcomeUnknown: true,
		Message: "the kernel accepted the new name, and there is no asset of that name",
		Hint:    `search(action="search_assets", query="…") shows the assets as they are`,
	}
}

var (
	tailIDs = lazyregexp.New(`([-_ ]*[0-9]{14}-[0-9a-z]{7})+$`)
	tailID  = lazyregexp.New(`[0-9]{14}-[0-9a-z]{7}$`)
)

// freshName returns the name of an asset without an id at its end. The kernel adds a new id to the name of a new
// asset, but if the name has an id already, it overwrites the asset of that name, whoever uses it.
func freshName(name string) string {
	ext := path.Ext(name)
	return freshStem(strings.TrimSuffix(name, ext)) + ext
}

// freshStem is like [freshName], for a name without its ending.
func freshStem(stem string) string {
	fresh := tailIDs.ReplaceAllString(stem, "")
	if fresh == "" {
		fresh = "asset"
	}
	// The kernel removes invisible characters from names, which can turn a part of a name into an id.
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

// rewriteUses corrects the blocks that write an asset's old path in another form than the file's, such as
// assets/a%20b.png: the kernel rewrites only blocks with the exact path. It returns the blocks that still write the
// old path.
func rewriteUses(ctx context.Context, r *action.Request, old, renamed string) (stale []kernel.ID, err error) {
	forms, pairs := escapedForms(action.AssetTail(old), action.AssetTail(renamed))
	if len(forms) == 0 {
		return nil, nil
	}
	uses, err := r.Kernel.BlocksContaining(ctx, forms)
	if err != nil || len(uses) == 0 {
		return nil, err
	}
	uses = slices.DeleteFunc(uses, func(b kernel.ContainingBlock) bool { return b.InText == 0 })
	for chunk := range slices.Chunk(uses, 50) {
		if err := rewriteBlocks(ctx, r, chunk, strings.NewReplacer(pairs...)); err != nil {
			return nil, err
		}
	}
	remaining, err := r.Kernel.BlocksContaining(ctx, forms)
	for _, b := range remaining {
		stale = append(stale, b.ID)
	}
	return stale, err
}

// escape is one percent-encoded byte.
var escape = lazyregexp.New(`%[0-9a-fA-F]{2}`)

// escapedForms returns the spellings of a path that contain escapes, and pairs of old and new text for a replacer.
func escapedForms(old, renamed string) (forms, pairs []string) {
	add := func(from, to string) {
		if from != old && !slices.Contains(forms, from) {
			forms, pairs = append(forms, from), append(pairs, from, to)
		}
	}
	from, to := (&url.URL{Path: old}).EscapedPath(), (&url.URL{Path: renamed}).EscapedPath()
	add(strings.ReplaceAll(old, " ", "%20"), strings.ReplaceAll(renamed, " ", "%20"))
	add(from, to)
	add(escape.ReplaceAllStringFunc(from, strings.ToLower), to)
	return forms, append(pairs, old, renamed) // SQL also finds unescaped spellings
}

// rewriteBlocks replaces text in the editor's form of blocks. Their Markdown would be parsed again, and if that makes
// several blocks of one, such as for HTML with empty lines, the kernel keeps only the first.
func rewriteBlocks(ctx context.Context, r *action.Request, blocks []kernel.ContainingBlock, replace *strings.Replacer) error {
	ids := make([]kernel.ID, len(blocks))
	for i, b := range blocks {
		ids[i] = b.ID
	}
	doms, err := r.Kernel.DOMs(ctx, ids)
	if err != nil {
		return err
	}
	var changes []kernel.Replacement
	for _, b := range blocks {
		dom := doms[b.ID]
		if mended := replace.Replace(dom); mended != dom {
			changes = append(changes, kernel.Replacement{ID: b.ID, BlockContent: kernel.BlockContent{DataType: "dom", Data: mended}})
			r.RefreshDocument(b.Root)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	_, err = r.Kernel.BatchUpdate(ctx, changes)
	return err
}
