package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"collie/internal/vault/workspace"
)

// ErrCopy is the error for a copy of a folder that was imported from another place, which still exists.
var ErrCopy = errors.New("the folder was imported before, from another place")

// ErrNotebook is the error for a folder that was imported into another notebook.
var ErrNotebook = errors.New("the folder was imported before, into another notebook")

// ErrNoOrigin is the error for a place that nothing was imported from.
var ErrNoOrigin = errors.New("nothing was imported from that place")

// PlaceOf returns the path under which a folder or file is remembered: absolute, with symbolic links resolved if
// possible.
func PlaceOf(at string) (string, error) {
	at, err := filepath.Abs(at)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	return at, nil
}

// chooseOrigin selects the earlier import that this one updates, among all recorded ones.
func (im *importer) chooseOrigin(tx *workspace.Tx, at string) error {
	if im.o.Copy {
		return nil
	}
	name := func(o workspace.Origin) string {
		if box := tx.Notebook(o.Notebook); box != nil {
			return box.Conf.Name
		}
		return ""
	}
	var candidates []workspace.Origin
	origins := tx.Origins()
	from := at
	if im.o.MovedFrom != "" {
		from = im.o.MovedFrom
	}
	for _, o := range origins {
		if o.Place == from {
			candidates = append(candidates, o)
		}
	}
	if len(candidates) == 0 && im.o.MovedFrom != "" {
		return fmt.Errorf("%w: %s", ErrNoOrigin, im.o.MovedFrom)
	}
	for _, o := range candidates {
		if im.o.Notebook == "" || name(o) == "" || name(o) == im.o.Notebook {
			im.memory.origin = o
			return nil
		}
	}
	if len(candidates) > 0 {
		return fmt.Errorf("%w, %q", ErrNotebook, name(candidates[0]))
	}
	if im.mark != nil || im.hasIDs {
		return nil // its documents are found by id wherever they are
	}
	return im.findMovedPlace(tx, origins)
}

// findMovedPlace looks for a recorded place whose folder may have been moved here: one with the same content in more
// than half of this folder's pages. If that folder still exists, this one is a copy: the error wraps [ErrCopy].
func (im *importer) findMovedPlace(tx *workspace.Tx, origins []workspace.Origin) error {
	pages := 0
	for _, pg := range im.pages {
		if pg.identifiesFolder() {
			pages++
		}
	}
	for _, o := range origins {
		rows := map[string]string{}
		for _, row := range tx.Imported(o.N) {
			rows[row.Path] = row.Source
		}
		match := 0
		for _, pg := range im.pages {
			if pg.identifiesFolder() && rows[pg.file] == pg.source {
				match++
			}
		}
		if match*2 <= pages || match == 0 {
			continue
		}
		if _, err := os.Lstat(o.Place); err == nil {
			return fmt.Errorf("%w: %s, which is still there and has %d of these %d files", ErrCopy, o.Place, match, pages)
		}
		im.report.From = o.Place
		im.memory.origin = o
		return nil
	}
	return nil
}

// identifiesFolder reports whether a page can identify the place its folder came from.
func (p *page) identifiesFolder() bool { return p.file != "" && p.size > 0 && p.source != "" }
