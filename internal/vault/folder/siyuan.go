package folder

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// ExportSiYuan writes one notebook as an archive (.sy.zip) that SiYuan imports: one folder with the documents as .sy
// files by path, assets/ with the files they use, storage/av/ with their databases, and .siyuan/ with the notebook's
// configuration and the manual order of its documents. notebook is an id; out is not closed. Such archives have no
// flashcards: the report names the blocks that are cards.
func ExportSiYuan(ctx context.Context, w *workspace.Workspace, notebook string, out io.Writer) (report Report, err error) {
	pack := zip.NewWriter(out)
	err = w.View(ctx, func(tx *workspace.Tx) error {
		boxes, err := selectNotebooks(tx, []string{notebook})
		if err != nil {
			return err
		}
		a := &archive{tx: tx, zip: pack, box: boxes[0], report: &report, top: safeName(boxes[0].Conf.Name)}
		a.refs = notebookRefs{boxes[0], a.top, map[string]bool{}, map[string]bool{}, map[string]bool{}}
		return a.write(ctx)
	})
	report.sort()
	return report, errors.Join(err, pack.Close())
}

// archive is an archive being written.
type archive struct {
	tx     *workspace.Tx
	zip    *zip.Writer
	box    *tree.Notebook
	report *Report
	top    string // the one folder at its top
	refs   notebookRefs
}

// write adds the configuration, the order and the documents of the notebook, then the assets and databases that they use.
func (a *archive) write(ctx context.Context) error {
	a.report.Notebooks++
	conf, err := json.MarshalIndent(a.box.Conf, "", "  ")
	if err != nil {
		return err
	}
	order := map[string]int{}
	docs := a.tx.Documents(a.box)
	for _, d := range docs {
		order[d.ID()] = d.Sort
	}
	delete(order, a.box.ID)
	sorted, err := json.Marshal(order)
	if err != nil {
		return err
	}
	err = errors.Join(a.add(".siyuan/conf.json", conf, time.Time{}), a.add(".siyuan/sort.json", sorted, time.Time{}))
	if err != nil {
		return err
	}
	for _, d := range docs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := a.writeDocument(d); err != nil {
			return err
		}
	}
	return errors.Join(a.writeAssets(), a.writeDatabases(), a.tx.Err())
}

func (a *archive) add(name string, data []byte, changed time.Time) error {
	if changed.IsZero() {
		changed = time.Now()
	}
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: a.top + "/" + name, Method: zip.Deflate, Modified: changed})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// writeDocument adds a document. The page of the notebook is left out if it is empty.
func (a *archive) writeDocument(d *tree.Document) error {
	root := a.tx.Peek(d.ID())
	if root == nil {
		return a.tx.Err()
	}
	if d.Hidden() {
		if text, _ := bodyOf(root, func(string) bool { return false }, false); text == "" && isPristine(root.Attrs) {
			return nil
		}
		a.report.problem(a.top, 0, codePage, d.Title(), "the text of the notebook itself becomes a document when SiYuan imports it")
	}
	if !validPath(d) {
		a.report.problem(d.HPath(), 0, codeDocumentID, d.ID(), "the id is malformed: left out")
		return nil
	}
	root.Walk(func(b *tree.Block) {
		a.refs.addFrom(b)
		if b.Attrs["custom-riff-decks"] != "" {
			a.report.problem(d.HPath(), 0, codeCard, b.ID, "the archive holds no flashcards: SiYuan will not know this one")
		}
		a.report.Blocks++
	})
	a.report.Blocks--
	a.report.Documents++
	return a.add(strings.TrimPrefix(d.Path(), "/"), markup.SY(&tree.Document{Root: root, Loaded: true}), d.Changed)
}

// validPath reports whether the path of a document consists of valid ids.
func validPath(d *tree.Document) bool {
	for up := d; up != nil; up = up.Parent {
		if !tree.ValidID(up.ID()) {
			return false
		}
	}
	return true
}

// writeAssets adds the assets that the documents name, and the annotations of PDFs.
func (a *archive) writeAssets() error {
	written := map[string]bool{}
	for _, address := range sortedKeys(a.refs.assets) {
		file, name := storedAsset(a.tx, a.box.ID, address)
		if file == "" {
			a.report.problem(a.top, 0, codeFileMissing, address, "a document names this asset, and the vault does not have it")
			continue
		}
		for _, extra := range []string{"", ".sya"} {
			f := a.tx.Stat(file + extra)
			if f == nil || written[name+extra] {
				continue
			}
			written[name+extra] = true
			a.report.Files++
			if err := a.add(assetsDir+"/"+name+extra, a.tx.ReadFile(file+extra), f.Changed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *archive) writeDatabases() error {
	databases, missing := databasesWithRelated(a.tx, a.refs.databases)
	for _, id := range missing {
		a.report.problem(a.top, 0, codeDatabase, id, "a document shows this database, and the vault does not have it")
	}
	for _, id := range sortedKeys(databases) {
		a.report.Files++
		if err := a.add("storage/av/"+id+".json", databases[id], a.tx.Stat(siyuanapi.DatabasePath(id)).Changed); err != nil {
			return err
		}
	}
	return nil
}
