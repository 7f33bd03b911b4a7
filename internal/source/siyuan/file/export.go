package file

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions file.export_md and file.export_resources.

// exportMarkdown returns the document of a target as Markdown, without anything from hidden notebooks. Depending on the
// user's settings, the kernel copies the text that references point to, and it always copies the results of embedded
// queries and the rows of databases. So if a notebook is hidden, references become links and a document with such
// blocks is refused. A document with an anchor that is the text of a hidden block is put together here, because the
// kernel's export does not show where such an anchor begins.
func exportMarkdown(ctx context.Context, r *action.Request, t action.Target) (kernel.Markdown, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return kernel.Markdown{}, err
	}
	var redactor *content.Redactor
	var kramdown string
	if restricted {
		if err := refuseCollections(ctx, r, t); err != nil {
			return kernel.Markdown{}, err
		}
		if kramdown, err = r.Kernel.Kramdown(ctx, t.Root); err != nil {
			return kernel.Markdown{}, err
		}
		if redactor, err = content.NewRedactor(ctx, r, kramdown); err != nil {
			return kernel.Markdown{}, err
		}
	}
	md, err := r.Kernel.ExportMarkdown(ctx, t.Root, restricted)
	if err != nil {
		return kernel.Markdown{}, err
	}
	if redactor.HidesAnchorIn(kramdown) {
		md.Content = withFrontMatter(md.Content, redactor.Text(kramdown))
	}
	if md.HPath == "" && md.Content == "" { // this is how the kernel reports a missing document
		return kernel.Markdown{}, &tool.Error{
			Op: "export", Kind: kernel.API, Code: kernel.CodeNoEffect, Subject: string(t.Root), Message: "the kernel exported nothing",
			Hint: `fs(action="read") and document(action="get_doc") show the document`, Facts: map[string]any{"reason": kernel.CodeNoEffect},
		}
	}
	md.Content = content.Clean(md.Content)
	return md, nil
}

// withFrontMatter adds the front matter and title of an export to a text of notes, in which references become links.
func withFrontMatter(exported, kramdown string) string {
	const fence = "---\n"
	front := ""
	if rest, found := strings.CutPrefix(exported, fence); found {
		if matter, after, found := strings.Cut(rest, "\n"+fence); found {
			front = fence + matter + "\n" + fence + "\n"
			if line, _, _ := strings.Cut(strings.TrimLeft(after, "\n"), "\n"); strings.HasPrefix(line, "# ") {
				front += line + "\n\n"
			}
		}
	}
	return front + strings.TrimSpace(content.WithLinks(kramdown)) + "\n"
}

// refuseCollections refuses a document that contains a database or an embedded query, because these show content of all
// notebooks.
func refuseCollections(ctx context.Context, r *action.Request, t action.Target) error {
	rows, err := kernel.SQL[struct{ Type string }](ctx, r.Kernel,
		"SELECT DISTINCT type FROM blocks WHERE root_id="+kernel.Quote(string(t.Root))+" AND type IN ('query_embed', 'av') ORDER BY type DESC LIMIT 2")
	if err != nil || len(rows) == 0 {
		return err
	}
	out := &tool.Error{
		Op: "check", Kind: tool.Denied, Subject: t.Subject,
		Message: "the document embeds what queries find in all notebooks, and not every notebook may be read",
		Hint:    `fs(action="read") and document(action="get_doc") show the document with the queries themselves`,
		Facts:   map[string]any{"reason": "embedded_queries"},
	}
	if rows[0].Type == "av" {
		out.Message = "the document has a database, whose rows may be blocks of any notebook, and not every notebook may be read"
		out.Hint = `fs(action="read") and document(action="get_doc") show the document without its rows, av(action="render") shows the database`
		out.Facts = map[string]any{"reason": "databases"}
	}
	return out
}

type exportMDArgs struct {
	ID kernel.ID `json:"id" about:"document, or a block in it" req:"true"`
}

// exportMD returns the action export_md of the tool file.
func exportMD() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "export_md", Purpose: "Export a document as standard Markdown",
		Guide: "The whole document of the block, with front matter. Where a notebook is hidden, references become links.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Common: true,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"export/exportMdContent", "query/sql", "notebook/lsNotebooks", "block/getBlockKramdown"},
		Positional: []string{"id"},
		Result:     kernel.Markdown{},
		Example:    `{"id":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, _ exportMDArgs) (any, error) {
		return exportMarkdown(ctx, r, r.Target("id"))
	})
}

type exportResourcesArgs struct {
	Paths  []string `json:"paths" about:"/data/assets/…, /data/ID/assets, emojis, templates" req:"true" min:"1" max:"100"`
	Name   string   `json:"name" about:"name of the archive" max:"100"`
	Output string   `json:"outputPath" about:"local file to write the zip to"`
}

type exportResourcesResult struct {
	Path   string `json:"path" about:"the archive in the workspace"`
	Output string `json:"outputPath,omitempty" about:"the local file"`
	Bytes  int64  `json:"bytes,omitempty" about:"its size"`
}

// archiveName matches the paths of archives that the kernel makes; no other path is fetched.
var archiveName = lazyregexp.New(`^/?temp/export/[^/\\]+\.zip$`)

// exportResources returns the action export_resources of the tool file.
func exportResources() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "export_resources", Purpose: "Pack assets, emojis or templates into a zip",
		Guide: "Only these can be packed, never documents or settings. The archive lies in the workspace; with outputPath it is " +
			"also written to this machine, where no file may be yet.",
		DangerousWith: "outputPath", Class: action.External, Risk: tool.RiskHigh, Effects: tool.EffectRead | tool.EffectWrite,
		Needs: []action.Need{needsResources(access.Read, "paths"), needsPlace("outputPath", "")},
		Endpoints: []string{
			"file/readDir", "query/sql", "asset/getUnusedAssets", "notebook/lsNotebooks", "export/exportResources", "file/getFile",
		},
		Positional: []string{"paths"},
		Result:     exportResourcesResult{},
		Example:    `{"paths":["/data/assets/plan-20240101120000-abcdefg.png"],"name":"plans"}`,
	}, func(ctx context.Context, r *action.Request, a exportResourcesArgs) (any, error) {
		if _, wrong := datafile.Check(a.Name); a.Name != "" && (wrong != "" || strings.ContainsAny(a.Name, "/%")) {
			return nil, r.Invalid("name", "is not a plain file name")
		}
		var out localFile
		if a.Output != "" { // refuse it before anything is made
			var err error
			if out, err = localPath(r, a.Output); err != nil {
				return nil, err
			}
		}
		paths, err := pathsToPack(ctx, r, a.Paths)
		if err != nil {
			return nil, err
		}
		exported, err := r.Kernel.ExportResources(ctx, paths, a.Name)
		if err != nil {
			return nil, err
		}
		if !archiveName.MatchString(exported) {
			return nil, &tool.Error{Op: "export", Kind: kernel.API, Subject: exported, Message: "the kernel names an archive outside of temp/export"}
		}
		res := exportResourcesResult{Path: exported}
		if a.Output != "" {
			res.Output = out.path()
			if res.Bytes, err = writeNewFile(out, a.Output, func(w io.Writer) (int64, error) {
				return r.Kernel.CopyFile(ctx, exported, w, maxArchive)
			}); err != nil {
				return nil, err
			}
		}
		return res, nil
	})
}

// pathsToPack returns the paths to pack, each once. The kernel packs files by name alone, so of two files with the same
// name the second would replace the first.
func pathsToPack(ctx context.Context, r *action.Request, requested []string) (paths []string, err error) {
	names := map[string]string{}
	for _, text := range requested {
		e, _, err := locateResource(ctx, r, text)
		if err != nil {
			return nil, err
		}
		p := "/data/" + e.Path
		if slices.Contains(paths, p) {
			continue
		}
		paths = append(paths, p)
		if e.Folder {
			continue
		}
		if sameName := names[path.Base(p)]; sameName != "" {
			return nil, r.Conflicting(sameName+" and "+p+" would have one name in the archive; pack them one at a time", "paths")
		}
		names[path.Base(p)] = p
	}
	return paths, nil
}

// maxArchive bounds an archive written to this machine, in bytes.
const maxArchive = 4 << 30

// writeNewFile writes a new local file and never touches an existing one. It removes a file that it could not finish. text is
// the path as the user gave it, for errors.
func writeNewFile(at localFile, text string, write func(io.Writer) (int64, error)) (int64, error) {
	root, err := at.openRoot()
	if err != nil {
		return 0, diskError("write", text, err)
	}
	defer root.Close()
	if dir := filepath.Dir(at.rel); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return 0, diskError("write", text, err)
		}
	}
	return writeNew(root, at.rel, text, write)
}

// writeNew writes a new file; it is an error if it exists.
func writeNew(root *os.Root, rel, text string, write func(io.Writer) (int64, error)) (int64, error) {
	f, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, diskError("write", text, err)
	}
	n, err := write(f)
	if closed := f.Close(); err == nil && closed != nil {
		err = diskError("write", text, fmt.Errorf("close: %w", closed))
	}
	if err != nil {
		_ = root.Remove(rel) // half a file is worse than none
		return 0, err
	}
	return n, nil
}
