package file

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action file.extract_doc, which writes a document with its assets into a folder on this machine.

type extractArgs struct {
	ID     kernel.ID `json:"id" about:"document, or a block in it" req:"true"`
	Output string    `json:"outputDir" about:"local folder; siyuan-extracted in the first allowed one"`
}

type skippedAsset struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

type extractResult struct {
	Root      string         `json:"outputRoot" about:"the local folder"`
	Default   bool           `json:"defaultOutputDirUsed" about:"whether it was chosen here" verbose:"yes"`
	Dir       string         `json:"extractedDir" about:"folder of the document"`
	File      string         `json:"docMdFile" about:"the Markdown file"`
	Extracted int            `json:"extractedAssetCount" about:"assets written"`
	Skipped   int            `json:"skippedAssetCount" about:"assets left out"`
	Why       []skippedAsset `json:"skippedAssets,omitempty" about:"which, and why"`
	Structure []string       `json:"structure" about:"files written, below extractedDir"`
	Hint      string         `json:"hint" about:"how to read them" verbose:"yes"`
}

// defaultOutput is the default folder for documents, below the first allowed folder.
const defaultOutput = "siyuan-extracted"

// extractDoc returns the action extract_doc of the tool file.
func extractDoc() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "extract_doc", Purpose: "Write a document and its assets to a local folder",
		Guide: "Makes a folder TITLE-ID in outputDir. One that is there is only written again if it was made this way, " +
			"and then only the files in it that were; nothing else is ever removed.",
		Dangerous: true, Class: action.External, Risk: tool.RiskHigh, Effects: tool.EffectRead | tool.EffectWrite,
		Needs:      []action.Need{action.OnDocument(access.Read, "id"), needsPlace("outputDir", "siyuan-extracted")},
		Endpoints:  []string{"export/exportMdContent", "query/sql", "notebook/lsNotebooks", "file/readDir", "file/getFile", "block/getBlockKramdown"},
		Aliases:    map[string]string{"outputPath": "outputDir"},
		Positional: []string{"id", "outputDir"},
		Result:     extractResult{},
		Example:    `{"id":"20240101120000-abcdefg","outputDir":"notes"}`,
	}, func(ctx context.Context, r *action.Request, a extractArgs) (any, error) {
		out := extractResult{Default: a.Output == "", Structure: []string{}}
		if out.Default {
			a.Output = defaultOutput
		}
		at, err := localPath(r, a.Output)
		if err != nil {
			return nil, err
		}
		t := r.Target("id")
		md, err := exportMarkdown(ctx, r, t)
		if err != nil {
			return nil, err
		}
		title := localName(path.Base(md.HPath))
		dir := title + "-" + string(t.Root[len(t.Root)-7:])
		x, err := openExtraction(at, dir)
		if err != nil {
			return nil, err
		}
		defer x.close()
		if err := x.writeText(title+".md", md.Content); err != nil {
			return nil, err
		}
		if err := copyAssets(ctx, r, t, md.Content, x, &out); err != nil {
			return nil, err
		}
		out.Root, out.Dir, out.Structure = at.path(), filepath.Join(at.path(), dir), x.files
		out.File = filepath.Join(out.Dir, title+".md")
		out.Hint = "links to assets in the Markdown are relative to its folder"
		return out, nil
	})
}

// copyAssets copies the assets that a document's Markdown refers to.
func copyAssets(ctx context.Context, r *action.Request, t action.Target, markdown string, x *extraction, out *extractResult) error {
	skip := func(path, reason string) {
		out.Skipped++
		if len(out.Why) < 100 {
			out.Why = append(out.Why, skippedAsset{path, reason})
		}
	}
	var order []string
	named := map[string]assetPath{}
	for _, address := range linkedAddresses(markdown) {
		if !assetAddress(address) {
			continue
		}
		file, _, _ := strings.Cut(address, "#")
		file, _, _ = strings.Cut(file, "?")
		a, wrong := parseAsset(file)
		if wrong != "" {
			skip(address, wrong)
			continue
		}
		if _, twice := named[a.plain]; !twice {
			order, named[a.plain] = append(order, a.plain), a
		}
	}
	may, err := r.VisibleAssets(ctx, order)
	if err != nil {
		return err
	}
	for _, address := range order {
		a := named[address]
		if !may(address) { // a hidden note also uses it
			skip(address, "there is no such file")
			continue
		}
		e, err := documentAsset(ctx, r, t, a)
		if err != nil {
			return err
		}
		if e == nil {
			skip(address, "there is no such file")
			continue
		}
		err = x.copyFile(ctx, r.Kernel, e.Path, a.plain)
		if wrong := localWriteError(err); wrong != "" {
			skip(address, wrong)
			continue
		}
		if err != nil {
			return err
		}
		out.Extracted++
	}
	return nil
}

// documentAsset finds the file of an asset that a document refers to: in the common assets folder, or in one of the
// document's own folders, the innermost first. It returns nil if there is none, or if it is in a hidden notebook.
func documentAsset(ctx context.Context, r *action.Request, t action.Target, a assetPath) (*datafile.Entry, error) {
	if a.notebook != "" && !r.Readable(a.notebook) {
		return nil, nil
	}
	places := a.files()
	if a.notebook == "" {
		for dir := path.Join(string(t.Notebook), strings.TrimSuffix(t.Path, ".sy")); dir != "."; dir = path.Dir(dir) {
			for _, f := range a.files() {
				places = append(places, dir+"/"+f)
			}
		}
	}
	for _, p := range places {
		e, err := datafile.Locate(ctx, r.Kernel, p)
		if isBadPath(err) { // a link
			continue
		}
		if err != nil || e != nil && !e.Folder {
			return e, err
		}
	}
	return nil, nil
}

// localName converts a title to a name for a local file.
func localName(title string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(datafile.Forbidden, r), datafile.Unprintable(r):
			return '_'
		}
		return r
	}, strings.ToValidUTF8(title, "_"))
	if runes := []rune(name); len(runes) > 60 {
		name = string(runes[:60]) // at most 240 bytes, without the extension
	}
	name = strings.Trim(name, ". ")
	if strings.Trim(datafile.PlainDots(name), "._ ") == "" || datafile.Device(name) {
		return "document"
	}
	return name
}

// localWriteError explains an error that concerns only one asset, so that the others can still be written. For other
// errors it returns "".
func localWriteError(err error) string {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return ""
	}
	switch e.Kind { //nolint:exhaustive // all others end the extraction
	case tool.Exists:
		return "there is a file of that name in the folder, or another asset whose name differs in case only"
	case tool.TooLarge:
		return e.Message
	case tool.NotFound:
		return "there is no such file"
	}
	return ""
}

func isBadPath(err error) bool { return err != nil && tool.KindOf(err) == kernel.InvalidPath }
