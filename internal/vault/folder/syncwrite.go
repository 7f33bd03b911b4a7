package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// fileWrite is a file that is about to be written.
type fileWrite struct {
	pg        *page
	now       string // the path that the file has, "" if there is none
	old, text []byte
	state     State
	earlier   *workspace.Imported // the record that imported replaces, nil for none
	imported  workspace.Imported
	synced    workspace.Synced
}

// isNothing reports whether the file already has this path and text.
func (w *fileWrite) isNothing() bool { return w.now == w.pg.file && bytes.Equal(w.old, w.text) }

// write writes the files of the chosen documents, parents first.
func (x *exportPhase) write(ctx context.Context) error {
	for _, d := range x.docs {
		if !x.todo[d.id] {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var root *tree.Block
		if err := x.w.View(ctx, func(tx *workspace.Tx) error {
			if root = tx.Peek(d.id); root != nil {
				d.rev = revisionOf(tx, d.id)
			}
			return tx.Err()
		}); err != nil {
			return err
		}
		if root == nil {
			continue // deleted meanwhile: the next sync handles it
		}
		if err := x.composeDocument(ctx, d, root); err != nil {
			return err
		}
		if len(x.writes) >= 4*batchPages || x.writeBytes >= batchBytes {
			if err := x.writeFiles(ctx); err != nil {
				return err
			}
		}
		if x.done++; x.o.Progress != nil {
			x.o.Progress(x.done, len(x.todo), x.pages[d.id].path())
		}
	}
	return x.writeFiles(ctx)
}

// writeFiles writes the composed files. Before that, it records in the vault what they will be. Otherwise a sync that is killed
// after it has written a file, but before it has recorded that, would leave a file that looks changed by a person.
func (x *exportPhase) writeFiles(ctx context.Context) error {
	writes := x.writes
	x.writes, x.writeBytes = nil, 0
	if err := x.w.Update(ctx, func(tx *workspace.Tx) error {
		for _, w := range writes {
			if !w.isNothing() {
				planned := w.imported
				planned.Path, planned.Kind = writingPath(w.pg.file), writingKind
				tx.PutImported(x.origin, planned)
				tx.PutSynced(x.origin, planned.Path, w.synced)
			}
		}
		return tx.Err()
	}); err != nil {
		return err
	}
	for _, w := range writes {
		if err := x.writeFile(&w); err != nil {
			return err
		}
	}
	return x.flush(ctx)
}

// writeFile writes one file, and adds its records to pending.
func (x *exportPhase) writeFile(w *fileWrite) error {
	pg := w.pg
	if err := x.moveAndReplace(pg, w.now, w.old, w.text); err != nil {
		x.unfinished = true
		if problem, ok := errors.AsType[*fs.PathError](err); ok && (errors.Is(problem, fs.ErrPermission) || errors.Is(problem, syscall.EROFS)) {
			x.im.report.problem(pg.file, 0, codeFileKept, path.Base(pg.file), plainError(problem)+": the file stays as it is")
		} else if !errors.Is(err, errChangedMeanwhile) {
			return fmt.Errorf("write %s: %w", pg.file, err)
		}
		x.pending = append(x.pending, func(tx *workspace.Tx) { tx.RemoveImported(x.origin, writingPath(pg.file)) })
		return nil
	}
	if w.state != Unchanged {
		from := ""
		if w.now != pg.file {
			from = w.now
		}
		x.im.state(pg.file, pageKind, w.state, w.imported.Target, from)
		x.report.Documents++
	}
	x.pending = append(x.pending, func(tx *workspace.Tx) { x.recordWritten(tx, x.origin, w.earlier, w.imported, w.synced) })
	return nil
}

// recordWritten records a file that was written. earlier is its record until now, nil for none.
func (s *syncer) recordWritten(tx *workspace.Tx, origin int64, earlier *workspace.Imported, imported workspace.Imported, synced workspace.Synced) {
	tx.RemoveImported(origin, writingPath(imported.Path))
	s.recordFormer(tx, origin, earlier, imported)
	if earlier != nil && earlier.Path != imported.Path {
		tx.RemoveImported(origin, earlier.Path)
	}
	tx.PutImported(origin, imported)
	tx.PutSynced(origin, imported.Path, synced)
}

// formerPath returns the path of the record that a page was at a path before. No path in the folder begins like it.
func formerPath(at string) string { return "//" + at }

// recordFormer records the former path of a page and the former names in it, if they have changed. If this sync is killed
// before it has written the files that link to the page, the next one needs them to know where those links lead.
func (s *syncer) recordFormer(tx *workspace.Tx, origin int64, earlier *workspace.Imported, now workspace.Imported) {
	if earlier == nil {
		return
	}
	record := workspace.Imported{Path: formerPath(earlier.Path), Kind: formerKind, Target: earlier.Target, Names: map[string]string{}}
	for name, id := range earlier.Names {
		if now.Names[name] != id {
			record.Names[name] = id
		}
	}
	if earlier.Path != now.Path || len(record.Names) > 0 {
		tx.PutImported(origin, record)
		s.moved = true
	}
}

// writingPath returns the path of the record of what a file will be. No path in the folder begins like it.
func writingPath(file string) string { return "/" + file }

// written returns the records of those files that an interrupted sync was about to write and that do have the new text.
func (s *syncer) written() (rows []workspace.Imported) {
	sources := map[string]string{}
	for _, pg := range s.im.pages {
		sources[pg.file] = pg.source
	}
	for _, row := range s.im.memory.writing {
		row.Path, row.Kind = row.Path[len(writingPath("")):], pageKind
		if row.Source == sources[row.Path] {
			rows = append(rows, row)
		}
	}
	return rows
}

// recoverWrites records the files that an interrupted sync has written, and removes the records of those that it has not.
func (s *syncer) recoverWrites(ctx context.Context) error {
	m := s.im.memory
	return s.w.Update(ctx, func(tx *workspace.Tx) error {
		states := tx.Synced(m.origin.N)
		for _, row := range s.written() {
			s.recordWritten(tx, m.origin.N, m.byTarget[row.Target], row, states[writingPath(row.Path)])
		}
		for _, row := range m.writing {
			tx.RemoveImported(m.origin.N, row.Path)
		}
		return tx.Err()
	})
}

// assumeWrites is like recoverWrites for a dry run, which changes only what was loaded, not the vault.
func (s *syncer) assumeWrites() {
	m := s.im.memory
	for _, row := range s.written() {
		if earlier := m.byTarget[row.Target]; earlier != nil {
			if earlier.Path != row.Path {
				m.former = append(m.former, workspace.Imported{Path: formerPath(earlier.Path), Kind: formerKind, Target: row.Target, Names: earlier.Names})
			}
			delete(m.rows, earlier.Path)
			delete(s.synced, earlier.Path)
		}
		m.rows[row.Path], m.byTarget[row.Target] = &row, &row
		s.synced[row.Path] = s.synced[writingPath(row.Path)]
	}
}

// composeDocument composes the file of a document, which writeFiles writes if its text or path changes.
func (x *exportPhase) composeDocument(ctx context.Context, d *syncDoc, root *tree.Block) error {
	pg, row, now := x.pages[d.id], x.rows[d.id], x.current[d.id]
	hash := contentHash(root.Attrs, root.Children)
	isNothing := hash == contentHash(nil, nil)
	if now == "" && isNothing && len(pg.children) > 0 && path.Base(pg.dir) == d.title {
		x.folderOnly(pg, row, d, hash)
		return nil
	}
	if pg.file == "" { // a folder without a file, whose document has text now
		pg.file = pg.dir + ".md"
	}
	var old []byte
	if now != "" {
		data, err := x.im.s.root.ReadFile(now)
		if err != nil || hashOf(data) != pg.source {
			x.unfinished = true
			return nil //nolint:nilerr // changed or deleted meanwhile: the next sync handles it
		}
		old = data
	}
	if err := x.exportAssets(ctx, root); err != nil {
		return err
	}
	text, made, lost := x.compose(pg, root, old, now != "")
	for _, what := range lost {
		x.im.report.problem(pg.file, 0, codeMarkdown, d.title, what)
	}
	w := fileWrite{pg: pg, now: now, old: old, text: text, state: FileUpdated, synced: workspace.Synced{Rev: d.rev}}
	switch {
	case now == "" && row != nil && !strings.HasSuffix(row.Path, "/"):
		w.state = FileRestored
	case now == "":
		w.state = FileWritten
	case now != pg.file:
		w.state = FileRenamed
	case bytes.Equal(old, text):
		w.state = Unchanged
	}
	w.earlier = row
	w.imported = workspace.Imported{
		Path: pg.file, Kind: pageKind, Target: d.id, Title: d.title, Parent: d.parent, Source: hashOf(text), Content: made, Names: pg.linkedNames(),
	}
	if made != hash {
		w.synced.Content = hash
	}
	x.writes = append(x.writes, w)
	x.writeBytes += len(old) + len(text)
	return nil
}

// folderOnly records a document without text, for which only a folder exists.
func (x *exportPhase) folderOnly(pg *page, row *workspace.Imported, d *syncDoc, hash string) {
	pg.file = ""
	at := pg.dir + "/"
	x.pending = append(x.pending, func(tx *workspace.Tx) {
		now := workspace.Imported{Path: at, Kind: pageKind, Target: d.id, Title: d.title, Parent: d.parent, Content: hash}
		x.recordFormer(tx, x.origin, row, now)
		if row != nil && row.Path != at {
			tx.RemoveImported(x.origin, row.Path)
		}
		tx.PutImported(x.origin, now)
		tx.PutSynced(x.origin, at, workspace.Synced{Rev: d.rev})
	})
}

var errChangedMeanwhile = errors.New("the file has changed meanwhile")

// moveAndReplace replaces the text of a file, and moves the file if its path changes. It does not touch a file that has that text
// already.
func (x *exportPhase) moveAndReplace(pg *page, now string, old, text []byte) error {
	root := x.im.s.root
	if now == pg.file && bytes.Equal(old, text) {
		return nil
	}
	x.wrote = true
	if dir := path.Dir(pg.file); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	if now != "" && now != pg.file {
		if info, err := root.Lstat(pg.file); err == nil {
			if current, err := root.Lstat(now); err != nil || !os.SameFile(info, current) { // they are the same file on systems that ignore case
				return errChangedMeanwhile
			}
		}
		if err := root.Rename(now, pg.file); err != nil {
			return err
		}
		x.removeEmptyDirs(path.Dir(now))
		if bytes.Equal(old, text) {
			return nil
		}
	}
	mode := fs.FileMode(0o666)
	if now != "" {
		if info, err := root.Stat(pg.file); err == nil {
			mode = info.Mode().Perm()
		}
	}
	return x.replace(pg.file, text, mode, now != "", hashOf(old))
}

// replace replaces a file atomically, using a temporary file in the same folder. If exists is false, the file must not
// exist; otherwise its current hash must be hash.
func (x *exportPhase) replace(at string, data []byte, mode fs.FileMode, exists bool, hash string) error {
	root := x.im.s.root
	temp := path.Join(path.Dir(at), tempPrefix+strconv.FormatUint(rand.Uint64(), 36))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if exists {
		err = errors.Join(err, f.Chmod(mode))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		switch {
		case !exists:
			if _, there := root.Lstat(at); there == nil {
				err = errChangedMeanwhile
			} else if err = root.Link(temp, at); err == nil {
				return root.Remove(temp)
			} else if !errors.Is(err, fs.ErrExist) {
				err = root.Rename(temp, at) // the file system has no hard links
			} else {
				err = errChangedMeanwhile
			}
		default:
			target := at
			if info, lerr := root.Lstat(at); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
				if to, lerr := root.Readlink(at); lerr == nil && !path.IsAbs(to) {
					target = path.Join(path.Dir(at), to) // the link is kept: its target in the folder is replaced, else writing fails
				}
			}
			if current, rerr := root.ReadFile(at); rerr != nil || hashOf(current) != hash {
				err = errChangedMeanwhile
			} else {
				err = root.Rename(temp, target)
			}
		}
	}
	if err != nil {
		_ = root.Remove(temp) // the first error is returned
	}
	return err
}

// exportAssets writes the attachments of a document that are not in the folder yet.
func (x *exportPhase) exportAssets(ctx context.Context, root *tree.Block) error {
	var missing []string
	root.Walk(func(b *tree.Block) {
		for _, address := range assetsOf(b) {
			if x.assets[address] == "" && !slices.Contains(missing, address) {
				missing = append(missing, address)
			}
		}
	})
	for _, address := range missing {
		var data []byte
		if err := x.w.View(ctx, func(tx *workspace.Tx) error {
			if file, _ := storedAsset(tx, x.box.ID, address); file != "" {
				data = tx.ReadFile(file)
			}
			return tx.Err()
		}); err != nil {
			return err
		}
		if data == nil {
			x.im.report.problem(x.pages[root.ID].file, 0, codeFileMissing, address, "a document names this asset, and the vault does not have it")
			continue
		}
		dir := x.assetDir()
		if x.names[dir] == nil {
			x.names[dir] = folderNames{}
		}
		hash := hashOf(data)
		at := path.Join(dir, path.Base(address))
		if !x.im.s.has(at) || x.im.s.hash(at, maxAsset) != hash { // else an earlier sync was killed once it had written it
			ext := path.Ext(address)
			at = path.Join(dir, x.names[dir].freeName(strings.TrimSuffix(path.Base(address), ext), ext)+ext)
			if err := x.im.s.root.MkdirAll(dir, 0o777); err != nil {
				return fmt.Errorf("make the folder %s: %w", dir, err)
			}
			if err := x.replace(at, data, 0o666, false, ""); err != nil {
				return fmt.Errorf("write %s: %w", at, err)
			}
		}
		x.wrote = true
		x.assets[address] = at
		x.ex.assets[at] = address
		x.ex.s.files[at] = foundFile{size: int64(len(data))}
		x.ex.s.reindex()
		x.report.Files++
		x.pending = append(x.pending, func(tx *workspace.Tx) {
			tx.PutImported(x.origin, workspace.Imported{Path: at, Kind: assetKind, Target: address, Source: hash, Content: hash})
		})
		x.im.state(at, assetKind, FileWritten, address, "")
	}
	return nil
}

// assetDir returns the folder for new attachments: the folder with the most attachments, or else assets.
func (x *exportPhase) assetDir() string {
	counts := map[string]int{}
	best := assetsDir
	for _, address := range sortedKeys(x.assets) {
		dir := path.Dir(x.assets[address])
		if counts[dir]++; dir != "." && counts[dir] > counts[best] {
			best = dir
		}
	}
	return best
}

// writeAssets writes attachments that changed in the vault.
func (x *exportPhase) writeAssets(ctx context.Context) error {
	var rows []workspace.Imported
	hashes := map[string]string{}
	if err := x.w.View(ctx, func(tx *workspace.Tx) error {
		rows = tx.Imported(x.origin)
		tx.Rows(func(row workspace.Row) bool {
			hashes[strings.TrimPrefix(row.Text(0), "/data/")] = row.Text(1)
			return true
		}, "SELECT path, hash FROM file WHERE path > '/data/assets/' AND path < '/data/assets0' AND dir = 0 AND size > 0")
		return tx.Err()
	}); err != nil {
		return err
	}
	for _, row := range rows {
		hash := hashes[row.Target]
		if row.Kind != assetKind || hash == "" || hash == row.Source {
			continue
		}
		var data []byte
		if err := x.w.View(ctx, func(tx *workspace.Tx) error {
			data = tx.ReadFile("/data/" + row.Target)
			return tx.Err()
		}); err != nil {
			return err
		}
		at, exists := row.Path, x.im.s.has(row.Path)
		if !exists {
			continue // the user removed it from the folder
		}
		state := FileUpdated
		mode := fs.FileMode(0o666)
		if info, err := x.im.s.root.Stat(at); err == nil {
			mode = info.Mode().Perm()
		}
		if x.im.s.hash(at, maxAsset) != row.Source { // both have changed
			state, exists = BothKept, false
			dir, ext := path.Dir(at), path.Ext(at)
			if x.names[dir] == nil {
				x.names[dir] = folderNames{}
			}
			at = path.Join(dir, x.names[dir].freeName(strings.TrimSuffix(path.Base(at), ext)+" (conflict)", ext)+ext)
		}
		if err := x.replace(at, data, mode, exists, row.Source); err != nil {
			if errors.Is(err, errChangedMeanwhile) {
				continue
			}
			return fmt.Errorf("write %s: %w", at, err)
		}
		x.wrote = true
		x.im.state(at, assetKind, state, row.Target, "")
		if state == BothKept {
			x.im.report.problem(row.Path, 0, codeConflict, path.Base(row.Path), "changed on both sides: the file stays, and what the vault had is beside it")
			fileData, err := x.im.s.root.ReadFile(row.Path)
			if err != nil {
				continue
			}
			x.pending = append(x.pending, func(tx *workspace.Tx) {
				tx.WriteFile("/data/"+row.Target, fileData, x.im.s.files[row.Path].changed)
				row.Source, row.Content = hashOf(fileData), hashOf(fileData)
				tx.PutImported(x.origin, row)
			})
			continue
		}
		x.report.Files++
		x.pending = append(x.pending, func(tx *workspace.Tx) {
			row.Source = hash
			tx.PutImported(x.origin, row)
		})
	}
	return x.flush(ctx)
}
