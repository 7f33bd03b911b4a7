package folder

import (
	"archive/zip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"collie/internal/lazyregexp"
)

// source is a folder being read, with its files.
type source struct {
	root  *os.Root
	files map[string]foundFile // all files by path
	base  map[string][]string  // paths by folded name
	dirs  map[string]bool
	// unread has the paths of files, folders and links that cannot be read or are not followed.
	unread map[string]bool
	// packed has the files of an archive, which has no root.
	packed map[string]*zip.File
	// texts and moved are for a sync, which reads the folder as it will be: texts has the future texts of files, and moved
	// the present paths of files that will be elsewhere.
	texts map[string][]byte
	moved map[string]string
}

// foundFile is a file of the folder.
type foundFile struct {
	size    int64
	changed time.Time
}

// open lists a folder. The caller closes root.
func open(ctx context.Context, dir string, r *Report) (*source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &source{root: root, files: map[string]foundFile{}, base: map[string][]string{}, dirs: map[string]bool{}, unread: map[string]bool{}}
	err = fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if at == "." {
				return err
			}
			r.problem(at, 0, codeUnreadable, path.Base(at), plainError(err)+": left out")
			s.unread[at] = true
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return s.visit(at, d, r)
	})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	s.reindex()
	return s, nil
}

// isUnread reports whether a path, or a folder above it, could not be read, so that there may be something at the path.
func (s *source) isUnread(at string) bool {
	for ; at != "." && at != "/"; at = path.Dir(at) {
		if s.unread[at] {
			return true
		}
	}
	return false
}

// reindex lists the files by name.
func (s *source) reindex() {
	s.base = map[string][]string{}
	for at := range s.files {
		key := foldName(path.Base(at))
		s.base[key] = append(s.base[key], at)
	}
	for _, paths := range s.base {
		slices.SortFunc(paths, nearestFirst)
	}
}

// nearestFirst orders paths by depth.
func nearestFirst(a, b string) int {
	if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// isSkipped reports whether a folder is not part of the notes.
func isSkipped(at string) bool {
	name := path.Base(at)
	return strings.HasPrefix(name, ".") || at == "logseq/bak" || at == "logseq/.recycle" || strings.HasSuffix(at, "/logseq/bak")
}

// visit lists one file or folder, and reports those that are left out.
func (s *source) visit(at string, d fs.DirEntry, r *Report) error {
	switch {
	case at == ".":
		return nil
	case d.IsDir() && isSkipped(at):
		if strings.HasPrefix(path.Base(at), ".") && !settingsFolders[path.Base(at)] && s.containsPages(at) {
			r.problem(at, 0, codeHidden, path.Base(at), "hidden folders are left out, and this one holds Markdown: give it a name without a dot to import it")
		}
		return fs.SkipDir
	case d.IsDir():
		s.dirs[at] = true
		if _, err := s.root.Stat(logseqConfig); at == path.Dir(logseqConfig) && err == nil {
			return fs.SkipDir // settings
		}
		return nil
	case strings.HasPrefix(path.Base(at), "."):
		if isPage(at) {
			r.problem(at, 0, codeHidden, path.Base(at), "hidden files are left out: give it a name without a dot to import it")
		}
		return nil
	}
	info, err := s.root.Stat(at) // follows a link that stays inside
	if err != nil || !info.Mode().IsRegular() {
		s.unread[at] = true
	}
	switch {
	case err != nil && d.Type()&fs.ModeSymlink != 0:
		r.problem(at, 0, codeSymlink, path.Base(at), "the symbolic link leads out of the folder or to nothing: left out")
	case err != nil:
		r.problem(at, 0, codeUnreadable, path.Base(at), plainError(err)+": left out")
	case info.IsDir():
		r.problem(at, 0, codeSymlink, path.Base(at), "symbolic links to folders are not followed: left out")
	case !info.Mode().IsRegular():
		r.problem(at, 0, codeNotRegular, path.Base(at), "it is not an ordinary file: left out")
	default:
		s.files[at] = foundFile{info.Size(), info.ModTime()}
	}
	return nil
}

// settingsFolders are hidden folders in which programs keep settings or deleted files. They need no warning.
var settingsFolders = map[string]bool{".git": true, ".obsidian": true, ".trash": true, ".logseq": true, ".vscode": true, ".idea": true, ".cache": true, ".stfolder": true, ".stversions": true}

// maxHidden bounds how many entries of a hidden folder are inspected.
const maxHidden = 2000

// containsPages reports whether there is Markdown in a hidden folder.
func (s *source) containsPages(at string) (ok bool) {
	seen := 0
	_ = fs.WalkDir(s.root.FS(), at, func(name string, d fs.DirEntry, err error) error { // unreadable entries count as missing
		if seen++; ok || err != nil || seen > maxHidden {
			return fs.SkipAll
		}
		ok = !d.IsDir() && isPage(name)
		return nil
	})
	return ok
}

// plainError returns the text of an error without the path, which the problem has already.
func plainError(err error) string {
	if wrong := (*fs.PathError)(nil); errors.As(err, &wrong) {
		return wrong.Err.Error()
	}
	return err.Error()
}

// read reads a file of at most limit bytes.
func (s *source) read(at string, limit int64) ([]byte, error) {
	if f := s.files[at]; f.size > limit {
		return nil, errTooLarge
	}
	if s.packed != nil {
		f := s.packed[at]
		if f == nil {
			return nil, fs.ErrNotExist
		}
		return readPacked(f, limit)
	}
	if data, ok := s.texts[at]; ok {
		return data, nil
	}
	if now := s.moved[at]; now != "" {
		at = now
	}
	data, err := s.root.ReadFile(at)
	if err == nil && int64(len(data)) > limit {
		return nil, errTooLarge
	}
	return data, err
}

var errTooLarge = errors.New("the file is too large")

// isPage reports whether a file is Markdown.
func isPage(at string) bool {
	switch strings.ToLower(path.Ext(at)) {
	case ".md", ".markdown":
		return true
	}
	return false
}

func stem(at string) string { return strings.TrimSuffix(path.Base(at), path.Ext(at)) }

// journalName matches the names that Logseq gives to notes of a day.
var journalName = lazyregexp.New(`^(\d{4})[_-](\d\d)[_-](\d\d)$`)
