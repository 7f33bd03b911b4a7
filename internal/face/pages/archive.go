package pages

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// archive contains the files of web/dist, packed by tools/pack.
//
//go:generate go -C ../../../tools run ./pack ../web/dist ../internal/face/pages/pages.zip
//go:embed pages.zip
var archive []byte

// asset is a file of the pages.
type asset struct {
	entry  *zip.File
	tag    string // entity tag, without W/
	kind   string
	hashed bool // its name contains a hash of its content
}

// kinds are the content types by extension. The system's own table is not used, because it differs between systems.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
}

// unpack returns the files in an archive by path.
func unpack(packed []byte) (map[string]*asset, error) {
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("read the archive of the pages: %w", err)
	}
	files := map[string]*asset{}
	for _, f := range z.File {
		kind := kinds[path.Ext(f.Name)]
		if kind == "" {
			return nil, fmt.Errorf("read the archive of the pages: %s is of no known type", f.Name)
		}
		files[f.Name] = &asset{
			entry: f, kind: kind, hashed: strings.HasPrefix(f.Name, "assets/"),
			tag: fmt.Sprintf(`"%08x-%x"`, f.CRC32, f.UncompressedSize64),
		}
	}
	if files["index.html"] == nil {
		return nil, errors.New("read the archive of the pages: there is no index.html")
	}
	return files, nil
}

// file serves a file.
func (p *Pages) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Path)
	if name == "" {
		name = "index.html"
	}
	a := p.files[name]
	if a == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("ETag", "W/"+a.tag) // weak, because packed and plain it is the same tag (RFC 9110, section 8.8.1)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if a.hashed {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if strings.Contains(r.Header.Get("If-None-Match"), a.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", a.kind)
	if err := a.write(w, r); err != nil {
		panic(http.ErrAbortHandler) // the client is gone, or the program is damaged
	}
}

// write sends the file. If the client accepts gzip, it sends the compressed data of the archive unchanged.
func (a *asset) write(w http.ResponseWriter, r *http.Request) error {
	if a.entry.Method != zip.Deflate || !takesGzip(r) {
		data, err := a.entry.Open()
		if err != nil {
			return err
		}
		defer data.Close()
		w.Header().Set("Content-Length", strconv.FormatUint(a.entry.UncompressedSize64, 10))
		_, err = io.Copy(w, data) //nolint:gosec // the archive is our own
		return err
	}
	data, err := a.entry.OpenRaw()
	if err != nil {
		return err
	}
	// The archive has raw deflate data. A gzip stream is that data with a header and a checksum (RFC 1952).
	head := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}
	foot := binary.LittleEndian.AppendUint32(nil, a.entry.CRC32)
	foot = binary.LittleEndian.AppendUint32(foot, uint32(a.entry.UncompressedSize64))
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Length", strconv.FormatUint(a.entry.CompressedSize64+uint64(len(head)+len(foot)), 10))
	_, err = io.Copy(w, io.MultiReader(bytes.NewReader(head), data, bytes.NewReader(foot)))
	return err
}

// takesGzip reports whether the client accepts gzip.
func takesGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		coding, weight, weighted := strings.Cut(one, ";")
		if strings.TrimSpace(coding) != "gzip" {
			continue
		}
		_, q, _ := strings.Cut(weight, "=")
		return !weighted || strings.Trim(strings.TrimSpace(q), "0.") != ""
	}
	return false
}
