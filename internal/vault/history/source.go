package history

import (
	"path"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// source is a file or document that belongs into a snapshot and was not read yet.
type source struct {
	path string // below /data
	// version identifies the current content of the path without reading it.
	version string
	read    func(*workspace.Tx) (file, []byte)
}

// id returns the id of the file record for a source.
func (s source) id() string { return hashName("file", s.path, s.version) }

// sources returns all files and documents of the workspace, and the configuration files that SiYuan keeps in each
// notebook.
func sources(tx *workspace.Tx) []source {
	tx.Flush()
	list, sorts := documents(tx)
	list = append(list, files(tx)...)
	for _, box := range tx.Notebooks() {
		list = append(list, derivedFile("/"+box.ID+"/.siyuan/conf.json", api.MustJSON(box.Conf)))
		if sort := sorts[box.ID]; sort != nil {
			list = append(list, derivedFile("/"+box.ID+"/.siyuan/sort.json", api.MustJSON(sort)))
		}
	}
	return list
}

// documents returns the documents of all notebooks, and their sort values by notebook and document.
func documents(tx *workspace.Tx) (list []source, sorts map[string]map[string]int64) {
	sorts = map[string]map[string]int64{}
	tx.Rows(func(row workspace.Row) bool {
		id, box, changed := row.Text(2), row.Text(3), row.Int(5)
		if sorts[box] == nil {
			sorts[box] = map[string]int64{}
		}
		sorts[box][id] = row.Int(6)
		list = append(list, source{
			path: "/" + box + row.Text(4),
			// Numbers are never reused, so a document that was recreated with its old id has a different version.
			version: hashName("document", row.Int(0), row.Int(1)),
			read: func(tx *workspace.Tx) (file, []byte) {
				root := tx.Peek(id)
				if root == nil {
					return file{}, nil
				}
				return file{Title: root.Attrs["title"], Updated: changed, Doc: true}, markup.SY(&tree.Document{Root: root, Loaded: true})
			},
		})
		return true
	}, `SELECT document.n, document.rev, document.id, document.box, document.path, document.changed, document.sort
		FROM document`)
	return list, sorts
}

// files returns the files below /data outside of the tree of notes, except the settings in /data/.siyuan.
func files(tx *workspace.Tx) (list []source) {
	tx.Rows(func(row workspace.Row) bool {
		at, changed := row.Text(0), row.Int(2)
		list = append(list, source{
			path: strings.TrimPrefix(at, "/data"), version: row.Text(1),
			read: func(tx *workspace.Tx) (file, []byte) {
				return file{Title: path.Base(at), Updated: changed}, tx.ReadFile(at)
			},
		})
		return true
	}, `SELECT path, hash, changed FROM file WHERE path > '/data/' AND path < '/data0' AND dir = 0
		AND path NOT GLOB '/data/.siyuan/*'`)
	return list
}

// derivedFile returns a source for a file that SiYuan stores and the vault makes up from its tables.
func derivedFile(at string, data []byte) source {
	return source{path: at, version: sha1Hex(data), read: func(*workspace.Tx) (file, []byte) {
		return file{Title: path.Base(at), Updated: time.Now().UnixMilli(), Derived: true}, data
	}}
}
