package file

import (
	"context"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions file.get_doc_assets, file.list_unused_assets and file.get_image_ocr_text.

type docAssetsArgs struct {
	ID   kernel.ID `json:"id" about:"document, or a block in it" req:"true"`
	Type string    `json:"assetType" about:"all, or images only" default:"all" enum:"all,image" list:"no"`
}

type getDocAssetsResult struct {
	ID     kernel.ID `json:"id" about:"the document"`
	Type   string    `json:"assetType" about:"what was asked for"`
	Assets []string  `json:"assets" about:"paths as the document writes them"`
	Count  int       `json:"count" about:"how many"`
}

// getDocAssets returns the action get_doc_assets of the tool file.
func getDocAssets() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "get_doc_assets", Purpose: "List the assets that a document uses",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Common: true,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"asset/getDocAssets", "asset/getDocImageAssets"},
		Positional: []string{"id"},
		Result:     getDocAssetsResult{},
		Example:    `{"id":"20240101120000-abcdefg","assetType":"image"}`,
	}, func(ctx context.Context, r *action.Request, a docAssetsArgs) (any, error) {
		root := r.Target("id").Root
		found, err := r.Kernel.DocumentAssets(ctx, root, a.Type == "image")
		if err != nil {
			return nil, err
		}
		list := visibleAssets(r, found)
		return getDocAssetsResult{root, a.Type, list, len(list)}, nil
	})
}

// visibleAssets removes duplicates and assets in the folders of hidden notebooks.
func visibleAssets(r *action.Request, paths []string) []string {
	out := []string{}
	for _, p := range paths {
		if a, wrong := parseAsset(p); wrong == "" && a.notebook != "" && !r.Readable(a.notebook) {
			r.Filtered(1)
			continue
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

type listUnusedAssetsResult struct {
	Assets []string `json:"assets" about:"asset paths"`
	Count  int      `json:"count" about:"how many"`
	Capped bool     `json:"capped,omitempty" about:"there may be more: the kernel names at most 512"`
}

// listUnusedAssets returns the action list_unused_assets of the tool file.
func listUnusedAssets() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "list_unused_assets", Purpose: "List assets that no document uses",
		Guide: "At most 512. Assets in the folders of notebooks that may not be read are left out; and where a notebook is closed, " +
			"those whose names have a space or a letter that may be escaped.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Unguarded: "an asset that nothing uses belongs to no notebook; those in folders of hidden ones are left out",
		Endpoints: []string{"asset/getUnusedAssets", "query/sql", "notebook/lsNotebooks", "file/readDir", "file/getFile"},
		Result:    listUnusedAssetsResult{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		u, err := unusedAssets(ctx, r)
		if err != nil {
			return nil, err
		}
		list := visibleAssets(r, u.files)
		if blind, err := hasHiddenClosed(ctx, r); err != nil {
			return nil, err
		} else if blind { // files used by a closed notebook may seem unused
			r.Filtered(len(list))
			list = []string{}
		}
		return listUnusedAssetsResult{list, len(list), u.total >= kernel.MaxUnusedAssets}, nil
	})
}

type imageTextArgs struct {
	Path string `json:"path" about:"asset path of the image" req:"true" min:"1"`
}

type getImageOCRTextResult struct {
	Path string `json:"path" about:"the image"`
	Text string `json:"text" about:"the text in it"`
}

// getImageOCRText returns the action get_image_ocr_text of the tool file.
func getImageOCRText() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "get_image_ocr_text", Purpose: "Read the text that SiYuan recognised in an image",
		Guide: "Empty where nothing was recognised, or no text recognition is installed.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{needsAsset(access.Read, "path")},
		Endpoints:  []string{"file/readDir", "query/sql", "asset/getUnusedAssets", "notebook/lsNotebooks", "asset/getImageOCRText"},
		Positional: []string{"path"},
		Result:     getImageOCRTextResult{},
		Example:    `{"path":"assets/plan-20240101120000-abcdefg.png"}`,
	}, func(ctx context.Context, r *action.Request, a imageTextArgs) (any, error) {
		at, err := namedAsset(ctx, r, a.Path)
		if err != nil {
			return nil, err
		}
		text, err := r.Kernel.ImageText(ctx, action.AssetTail(at)) // as documents write it
		if err != nil {
			return nil, err
		}
		return getImageOCRTextResult{a.Path, text}, nil
	})
}

// unusedList is the kernel's list of unused assets, checked and sorted.
type unusedList struct {
	files []string // really unused
	used  []string // used after all, or possibly used
	total int      // length of the kernel's list
}

// escapableChar matches a character that documents may write percent-encoded.
var escapableChar = lazyregexp.New(`[^0-9A-Za-z/_.~-]`)

// unusedAssets returns the unused files. The kernel does not notice references with escapes, such as "assets/a%20b.png",
// so those are looked up (row 49 of the recording assets.jsonl). That is impossible in closed notebooks, so if there are
// any, every name that may be escaped counts as used.
func unusedAssets(ctx context.Context, r *action.Request) (unusedList, error) {
	list, err := r.Kernel.UnusedAssets(ctx)
	if err != nil {
		return unusedList{}, err
	}
	out := unusedList{files: []string{}, total: len(list)}
	if len(list) == 0 {
		return out, nil
	}
	named, err := findMentions(ctx, r, list)
	if err != nil {
		return unusedList{}, err
	}
	all, err := r.Levels.All(ctx)
	if err != nil {
		return unusedList{}, err
	}
	closed := slices.ContainsFunc(all, func(n kernel.Notebook) bool { return n.Closed })
	for _, path := range list {
		switch {
		case slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(p, path+"/") }): // a folder
		case named.Has(path), closed && escapableChar.MatchString(action.AssetTail(path)):
			out.used = append(out.used, path)
		default:
			out.files = append(out.files, path)
		}
	}
	slices.Sort(out.files)
	slices.Sort(out.used)
	return out, nil
}

// findMentions looks for assets in all blocks. In databases it looks only for names that may be escaped: the kernel finds the
// others itself, and each database costs a request.
func findMentions(ctx context.Context, r *action.Request, list []string) (*action.AssetMentions, error) {
	n := action.NewAssetMentions(list)
	texts, err := r.Kernel.AssetTextsOutside(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		n.AddText(text.Text)
	}
	if !slices.ContainsFunc(list, func(p string) bool { return escapableChar.MatchString(action.AssetTail(p)) && !n.Has(p) }) {
		return n, nil
	}
	return n, r.Kernel.DatabaseTexts(ctx, nil, func(_ kernel.ID, text string) { n.AddText(text) })
}
