package file

import (
	"maps"
	"net/http"
	"slices"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that read files and list folders.

func getFile(tx *workspace.Tx, req api.Request) api.Reply {
	p := confine(req, req.NeedText("path"))
	e := lookup(tx, p)
	switch {
	case e == nil:
		return api.Fail(http.StatusNotFound, "file does not exist")
	case e.dir:
		return api.Fail(http.StatusConflict, "path is a directory")
	}
	data := e.data()
	if data == nil {
		data = []byte{}
	}
	return api.File(data, api.ContentType(p, data))
}

// readDir lists the entries of a folder by name: stored files, and the documents that appear as files.
func readDir(tx *workspace.Tx, req api.Request) api.Reply {
	p := confine(req, req.NeedStr("path"))
	switch e := lookup(tx, p); {
	case e == nil:
		return api.Fail(http.StatusNotFound, "path does not exist")
	case !e.dir:
		return api.Fail(http.StatusConflict, "path is not a directory")
	}
	type dirEntry struct {
		IsDir     bool   `json:"isDir"`
		IsSymlink bool   `json:"isSymlink"` // there are none
		Name      string `json:"name"`
		Updated   int64  `json:"updated"` // seconds
	}
	byName := entries(tx, p)
	list := make([]dirEntry, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		e := byName[name]
		updated := int64(0)
		if !e.changed.IsZero() {
			updated = e.changed.Unix()
		}
		list = append(list, dirEntry{IsDir: e.dir, Name: name, Updated: updated})
	}
	return api.OK(list)
}
