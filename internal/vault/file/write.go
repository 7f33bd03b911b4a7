package file

import (
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that write and remove files.

const badName = "invalid file path. For details, please check https://github.com/siyuan-note/siyuan/issues/14658"

// refuseNote returns the error for a write to an entry that represents notes or that every workspace has.
func refuseNote() api.Reply {
	return api.Fail(http.StatusForbidden, "permission denied: notebooks and documents are changed through their own endpoints")
}

// putFile writes a file, or makes a folder if the field isDir is true. Names must be valid on all systems, and notes are refused.
func putFile(tx *workspace.Tx, req api.Request) api.Reply {
	raw := strings.TrimSpace(req.Field("path"))
	if raw == "" {
		return api.Fail(http.StatusBadRequest, "path must not be empty")
	}
	p := confine(req, raw)
	isDir := req.Field("isDir") == "true"
	e := lookup(tx, p)
	switch {
	case !storable(p) && p != "/":
		return api.Fail(http.StatusBadRequest, badName)
	case isDir && e != nil && e.dir:
		return api.Done()
	case !isDir && len(req.Form.File["file"]) == 0:
		return api.Fail(http.StatusBadRequest, "Field [file] must not be empty")
	case e != nil && e.dir:
		return api.Fail(http.StatusBadRequest, "path is a directory")
	case e != nil && e.note:
		return refuseNote()
	case isDir && e != nil || blockingFile(tx, p) != "":
		return api.Fail(http.StatusConflict, "path is not a directory")
	case isDir:
		tx.MakeDir(p)
		return api.Done()
	}
	changed, err := modTime(req.Field("modTime"))
	if err != nil {
		return api.Fail(http.StatusInternalServerError, err.Error())
	}
	data, err := content(req.Form.File["file"][0])
	if err != nil {
		return api.Fail(http.StatusInternalServerError, err.Error())
	}
	tx.WriteFile(p, data, changed)
	return api.Done()
}

// modTime parses a time in milliseconds; "" gives the zero time, which means now.
func modTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMilli(ms), nil
}

// content reads a part of a multipart form.
func content(part *multipart.FileHeader) ([]byte, error) {
	f, err := part.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(f)
}

func removeFile(tx *workspace.Tx, req api.Request) api.Reply {
	p := confine(req, req.NeedStr("path"))
	switch e := lookup(tx, p); {
	case e == nil:
		return api.Fail(http.StatusNotFound, "path does not exist")
	case e.note:
		return refuseNote()
	}
	tx.RemoveFile(p)
	return api.Done()
}
