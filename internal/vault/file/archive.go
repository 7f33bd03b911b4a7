package file

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoint that packs files into an archive.

const (
	exports = "/temp/export"
	// exportAge is how old an archive must be for the next export to remove it.
	exportAge = 24 * time.Hour
	// maxArchive bounds the unpacked size of an archive in bytes, since the file of the vault has a limit for values.
	maxArchive = 256 << 20
)

var errTooLarge = fmt.Errorf("the files are more than %d MiB together: export fewer at once", maxArchive>>20)

// exportResources packs files and folders of the workspace into an archive in /temp/export.
func exportResources(tx *workspace.Tx, req api.Request) api.Reply {
	if !req.Get("paths").IsArray() {
		return api.Reply{Code: 1, Msg: "[paths] is required", Data: ""}
	}
	refused := func(msg string) api.Reply {
		return api.Reply{Code: 1, Msg: msg, Data: map[string]any{"closeTimeout": 7000}}
	}
	archive := newZipExport(tx)
	for _, raw := range req.Strs("paths") {
		p := path.Clean("/" + raw)
		e := lookup(tx, p)
		switch {
		case escapes(raw) || p == "/":
			return refused("resource path [" + raw + "] is not in workspace")
		case e == nil:
			return refused("Export failed: lstat " + api.Root + p + ": no such file or directory")
		}
		if err := archive.add(p, archive.freeName(path.Base(p)), e); err != nil {
			return refused("Export failed: " + err.Error())
		}
	}
	data, err := archive.close()
	if err != nil {
		return refused("Export failed: " + err.Error())
	}
	for _, f := range tx.Files(exports) {
		if time.Since(f.Changed) > exportAge {
			tx.RemoveFile(f.Path)
		}
	}
	p := exports + "/" + archiveName(data, req.OptStr("name"))
	tx.WriteFile(p, data, time.Time{})
	return api.OK(map[string]any{"path": strings.TrimPrefix(p, "/")})
}

// archiveName returns the name of an archive: a hash of its content, and the name from the request.
func archiveName(data []byte, name string) string {
	if name = strings.Trim(foldName(name), " ."); name == "" {
		name = "export-" + time.Now().Format("2006-01-02_15-04-05")
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]) + "-" + tree.Cut(name, maxStem-32) + ".zip"
}

// zipExport is an archive being made.
type zipExport struct {
	tx    *workspace.Tx
	buf   bytes.Buffer
	zip   *zip.Writer
	names map[string]bool // at its top
	size  int
}

func newZipExport(tx *workspace.Tx) *zipExport {
	p := &zipExport{tx: tx, names: map[string]bool{}}
	p.zip = zip.NewWriter(&p.buf)
	return p
}

// freeName returns a name that is free at the top of the archive, since files from several folders may have the same
// name.
func (k *zipExport) freeName(name string) string {
	ext := path.Ext(name)
	free := name
	for n := 2; k.names[free]; n++ {
		free = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
	}
	k.names[free] = true
	return free
}

// add packs a file, or a folder with everything in it, under a name.
func (k *zipExport) add(p, name string, e *entry) error {
	if e.dir {
		return k.addFolder(p, name)
	}
	data := e.data()
	if k.size += len(data); k.size > maxArchive {
		return errTooLarge
	}
	w, err := k.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: e.changed})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return errors.Join(err, k.tx.Err())
}

func (k *zipExport) addFolder(p, name string) error {
	children := entries(k.tx, p)
	for _, base := range slices.Sorted(maps.Keys(children)) {
		if err := k.add(path.Join(p, base), name+"/"+base, children[base]); err != nil {
			return err
		}
	}
	return nil
}

func (k *zipExport) close() ([]byte, error) {
	if err := k.zip.Close(); err != nil {
		return nil, err
	}
	return k.buf.Bytes(), nil
}
