package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// ExportOptions say how notebooks are exported. The zero value works.
type ExportOptions struct {
	// Notebooks are ids of the notebooks to export; nil means all, including closed ones.
	Notebooks []string
	// Progress, if not nil, is called after each document.
	Progress func(done, total int, name string)
	// Overwrite allows a folder with an earlier export. Files of that export that no longer exist are removed; other
	// files stay.
	Overwrite bool
	// AllIDs writes every block with its id and attributes, not only those that need them.
	AllIDs bool
}

// Export writes notebooks into a folder. The folder is created if missing; otherwise it must be empty or, with
// Overwrite, contain an earlier export. Everything is read in one snapshot of the vault. Each file appears whole or
// not at all. An interrupted export says so in its marker and can be overwritten. An error means that the export is
// incomplete; what cannot be expressed exactly is a problem in the report.
func Export(ctx context.Context, w *workspace.Workspace, dir string, o ExportOptions) (report Report, err error) {
	to, err := openDestination(dir, o.Overwrite)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, to.root.Close()) }()
	err = w.View(ctx, func(tx *workspace.Tx) error {
		e := &exporter{ctx: ctx.Err, tx: tx, o: o, to: to, report: &report}
		return e.run()
	})
	report.sort()
	return report, err
}

// exporter is one export.
type exporter struct {
	ctx        func() error // returns the context's error
	tx         *workspace.Tx
	o          ExportOptions
	to         *destination
	report     *Report
	mark       exportMarker
	refs       notebookRefs
	total      int
	done       int
	referenced map[string]bool // blocks to which something refers
}

// notebookRefs collects what the documents of one notebook refer to: addresses of assets, ids of databases, and the ids
// of their own blocks.
type notebookRefs struct {
	box       *tree.Notebook
	folder    string
	assets    map[string]bool
	databases map[string]bool
	blocks    map[string]bool
}

// exportedDocument is a document with its file.
type exportedDocument struct {
	*tree.Document
	file string
}

// run writes the marker, then all notebooks, and then the marker again, as that of a complete export.
func (e *exporter) run() error {
	boxes, err := selectNotebooks(e.tx, e.o.Notebooks)
	if err != nil {
		return err
	}
	e.referenced = referencedIDs(e.tx)
	e.mark = exportMarker{Format: markerFormat, Version: markerVersion, Notebooks: []exportedNotebook{}, Files: []string{}}
	lists := make([][]exportedDocument, len(boxes))
	used := folderNames{}
	for i, box := range boxes {
		folder := used.document(box.Conf.Name)
		conf := box.Conf
		conf.Sort = 0 // the order of the list is enough
		e.mark.Notebooks = append(e.mark.Notebooks, exportedNotebook{folder, box.ID, conf})
		lists[i] = layOutDocuments(e.tx.Documents(box), folder)
		e.total += len(lists[i])
	}
	e.mark.Files = append(e.mark.Files, sortedKeys(e.to.earlier)...)
	if err := e.to.replace(MarkerName, e.mark.bytes()); err != nil { // from now on the folder counts as an export
		return err
	}
	for i, box := range boxes {
		if err := e.writeNotebook(box, e.mark.Notebooks[i].Folder, lists[i]); err != nil {
			return err
		}
	}
	e.to.removeStale(func(at string, err error) {
		e.report.problem(at, 0, codeFileKept, at, plainError(err)+": it is not part of this export")
	})
	e.mark.Complete, e.mark.Files = true, e.to.written
	slices.Sort(e.mark.Files)
	return e.to.replace(MarkerName, e.mark.bytes())
}

// selectNotebooks returns the notebooks with these ids, or all.
func selectNotebooks(tx *workspace.Tx, ids []string) ([]*tree.Notebook, error) {
	if ids == nil {
		return tx.Notebooks(), tx.Err()
	}
	var boxes []*tree.Notebook
	for _, id := range ids {
		box := tx.Notebook(id)
		if box == nil {
			return nil, fmt.Errorf("there is no notebook %q: give the id of one", id)
		}
		if !slices.Contains(boxes, box) {
			boxes = append(boxes, box)
		}
	}
	return boxes, tx.Err()
}

// referencedIDs returns the ids in references, queries, links, attributes and flashcards. The blocks with these ids must
// keep them.
func referencedIDs(tx *workspace.Tx) map[string]bool {
	ids := map[string]bool{}
	collect := func(row workspace.Row) bool {
		for _, id := range idInText.FindAllString(row.Text(0), -1) {
			ids[id] = true
		}
		return true
	}
	tx.Rows(collect, `SELECT DISTINCT def FROM ref`)
	tx.Rows(collect, `SELECT markdown FROM node WHERE type IN ('p', 'h', 't', 'html', 'query_embed', 'iframe', 'widget')
		AND (markdown LIKE '%siyuan://%' OR markdown LIKE '%{{%' OR type = 'query_embed')`)
	tx.Rows(collect, `SELECT value FROM attribute WHERE name NOT IN ('custom-avs', 'custom-riff-decks') AND value GLOB '*[0-9][0-9][0-9][0-9]-[0-9a-z]*'`)
	tx.Rows(collect, `SELECT `+blockOfCard+` FROM record WHERE kind = ?`, cardKind)
	return ids
}

// layOutDocuments assigns a file below folder to each document. Siblings are in manual order, and each name is unique
// in its folder.
func layOutDocuments(docs []*tree.Document, folder string) (list []exportedDocument) {
	children := map[*tree.Document][]*tree.Document{}
	for _, d := range docs {
		if d.Hidden() {
			list = append(list, exportedDocument{d, folder + ".md"})
			continue
		}
		children[d.Parent] = append(children[d.Parent], d)
	}
	var layOut func(parent *tree.Document, dir string)
	layOut = func(parent *tree.Document, dir string) {
		used := folderNames{}
		if parent == nil {
			for _, reserved := range []string{assetsDir, databasesDir, cardsFile} {
				used[foldName(reserved)] = true
			}
		}
		slices.SortFunc(children[parent], func(a, b *tree.Document) int {
			return cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.ID(), b.ID()))
		})
		for _, d := range children[parent] {
			at := dir + "/" + used.document(d.Title())
			list = append(list, exportedDocument{d, at + ".md"})
			layOut(d, at)
		}
	}
	layOut(nil, folder)
	return list
}

// writeNotebook writes one notebook.
func (e *exporter) writeNotebook(box *tree.Notebook, folder string, list []exportedDocument) error {
	e.refs = notebookRefs{box, folder, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	e.report.Notebooks++
	for _, l := range list {
		if err := e.ctx(); err != nil {
			return err
		}
		if err := e.writeDocument(l); err != nil {
			return err
		}
		e.done++
		if e.o.Progress != nil {
			e.o.Progress(e.done, e.total, l.file)
		}
	}
	for _, address := range sortedKeys(e.refs.assets) {
		if err := e.writeAsset(address); err != nil {
			return err
		}
	}
	if err := e.writeDatabases(); err != nil {
		return err
	}
	return errors.Join(e.writeCards(), e.tx.Err())
}

// writeDocument writes one document.
func (e *exporter) writeDocument(l exportedDocument) error {
	root := e.tx.Peek(l.ID())
	if root == nil {
		return e.tx.Err()
	}
	up, hash := upTo(l.file), contentHash(root.Attrs, root.Children)
	root.Walk(func(b *tree.Block) {
		e.refs.addFrom(b)
		if hasAddresses(b) {
			changeAddresses(b, func(text string) string { return withUp(text, up) })
		}
		for name, value := range b.Attrs {
			if strings.Contains(value, "assets/") && !(b == root && reservedAttr(name)) {
				b.Attrs[name] = withUp(value, up)
			}
		}
	})
	text, exact := bodyOf(root, func(id string) bool { return e.referenced[id] }, e.o.AllIDs)
	if !exact {
		e.report.problem(l.file, 0, codeMarkdown, l.Title(), "Markdown cannot say some block of it exactly: it may come back a little different")
	}
	if !tree.ValidID(l.ID()) {
		e.report.problem(l.file, 0, codeDocumentID, l.ID(), "the id is malformed: it gets a new one when it is imported")
	}
	if l.Hidden() && text == "" && isPristine(root.Attrs) {
		return nil
	}
	e.report.Documents++
	root.Walk(func(*tree.Block) { e.report.Blocks++ })
	e.report.Blocks-- // not the document itself
	if text != "" {
		text = "\n" + text + "\n"
	}
	data := []byte(frontOf(root.Attrs, l.Sort) + text)
	if e.mark.Hashes == nil {
		e.mark.Hashes = map[string]fileHashes{}
	}
	e.mark.Hashes[l.file] = fileHashes{hashOf(data), hash}
	return e.to.write(l.file, data)
}

// isPristine reports whether the page of a notebook has no attributes of its own.
func isPristine(attrs map[string]string) bool {
	for name := range attrs {
		if !reservedAttr(name) {
			return false
		}
	}
	return true
}

// addFrom adds a block and what it refers to.
func (s *notebookRefs) addFrom(b *tree.Block) {
	s.blocks[b.ID] = true
	for _, address := range assetsOf(b) {
		s.assets[address] = true
	}
	if b.Kind == tree.Database {
		for _, id := range idInText.FindAllString(b.Text, -1) {
			s.databases[id] = true
		}
	}
	for id := range strings.SplitSeq(b.Attrs["custom-avs"], ",") {
		if tree.ValidID(id) {
			s.databases[id] = true
		}
	}
}

// storedAsset returns the path in the vault of an asset that a notebook addresses, and its name below assets/; "" if
// the vault does not have it.
func storedAsset(tx *workspace.Tx, box, address string) (file, name string) {
	addresses := []string{address}
	if plain, err := url.PathUnescape(address); err == nil && plain != address {
		addresses = append(addresses, plain)
	}
	for _, address := range addresses {
		if !confinedAsset(address) {
			continue
		}
		for _, file := range []string{"/data/" + address, "/data/" + box + "/" + address} {
			if f := tx.Stat(file); f != nil && !f.Dir {
				return file, strings.TrimPrefix(address, assetsDir+"/")
			}
		}
	}
	return "", ""
}

// writeAsset writes one asset.
func (e *exporter) writeAsset(address string) error {
	file, name := storedAsset(e.tx, e.refs.box.ID, address)
	if file == "" {
		e.report.problem(e.refs.folder, 0, codeFileMissing, address, "a document names this asset, and the vault does not have it")
		return e.tx.Err()
	}
	for _, extra := range []string{"", ".sya"} { // the annotations of a PDF
		if extra != "" && e.tx.Stat(file+extra) == nil {
			continue
		}
		e.report.Files++
		if err := e.to.write(e.refs.folder+"/"+assetsDir+"/"+name+extra, e.tx.ReadFile(file+extra)); err != nil {
			return err
		}
	}
	return nil
}
