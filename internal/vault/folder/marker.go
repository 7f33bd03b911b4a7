package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"collie/internal/vault/tree"
)

// MarkerName is the file at the top of a folder that Export wrote.
const MarkerName = ".collie-export.json"

const (
	markerFormat  = "collie-export"
	markerVersion = 1
	maxMarker     = 64 << 20
)

// Files and folders beside the documents in the folder of a notebook.
const (
	assetsDir    = "assets"
	databasesDir = "databases"
	cardsFile    = "cards.json"
)

// exportMarker is the content of MarkerName.
type exportMarker struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Complete is false while an export runs, and after an interrupted one.
	Complete  bool               `json:"complete"`
	Notebooks []exportedNotebook `json:"notebooks"`
	// Files are all other files of the export.
	Files []string `json:"files"`
	// Hashes has the hashes of each document and its file at the time of the export, by file.
	Hashes map[string]fileHashes `json:"was,omitempty"`
}

// fileHashes has hashes of a file and of the document that it was written from.
type fileHashes struct {
	File    string `json:"file"`
	Content string `json:"held"`
}

// knownFile returns the record of an exported file, the zero value if there is none.
func (m *exportMarker) knownFile(file string) fileHashes {
	if m == nil {
		return fileHashes{}
	}
	return m.Hashes[file]
}

// exportedNotebook describes a notebook in a marker.
type exportedNotebook struct {
	Folder string    `json:"folder"`
	ID     string    `json:"id"`
	Conf   tree.Conf `json:"conf"`
}

// readMarker reads the marker of a folder, nil if it has none.
func readMarker(root *os.Root) (*exportMarker, error) {
	info, err := root.Lstat(MarkerName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxMarker:
		return nil, fmt.Errorf("%s is not what an export writes", MarkerName)
	}
	data, err := root.ReadFile(MarkerName)
	if err != nil {
		return nil, err
	}
	var m exportMarker
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read %s: %w", MarkerName, err)
	}
	if m.Format != markerFormat {
		return nil, fmt.Errorf("read %s: its format is %q, expected %q", MarkerName, m.Format, markerFormat)
	}
	if m.Version > markerVersion {
		return nil, fmt.Errorf("read %s: it was written by a newer Collie (version %d, this one knows %d): update Collie", MarkerName, m.Version, markerVersion)
	}
	for _, k := range m.Notebooks {
		if k.Folder != path.Base(k.Folder) || !fs.ValidPath(k.Folder) || k.Folder == "." || strings.HasPrefix(k.Folder, ".") {
			return nil, fmt.Errorf("read %s: %q is not a name of a folder", MarkerName, k.Folder)
		}
	}
	return &m, nil
}

func (m *exportMarker) bytes() []byte {
	data, _ := json.MarshalIndent(m, "", "  ") // cannot fail: texts, numbers and flags
	return append(data, '\n')
}

func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen with maps of strings
	}
	return string(data)
}
