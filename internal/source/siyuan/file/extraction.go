package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file writes the folder for extract_doc, and replaces nothing but its own files.

// markerFile marks a folder that was created here. Its lines are the files that were written into it.
const markerFile = ".collie-extract"

// Bounds for one document. The marker is shorter than the Markdown that names the files, and a kernel answers with less than this.
const (
	maxAsset  = 1 << 30
	maxMarker = 256 << 20
)

// extraction is a folder that a document is written to. All access goes through an [os.Root], so no name leads out of
// it.
type extraction struct {
	root  *os.Root
	files []string // written so far, with slashes
}

// openExtraction creates the folder dir below an allowed one. It reuses a folder that was created here before: it
// removes the files written that time and nothing else. It refuses a folder that has content but no marker.
func openExtraction(at localFile, dir string) (*extraction, error) {
	allowed, err := at.openRoot()
	if err != nil {
		return nil, diskError("write", at.path(), err)
	}
	defer allowed.Close()
	rel := filepath.Join(at.rel, dir)
	shown := filepath.Join(at.root, rel)
	if err := allowed.MkdirAll(at.rel, 0o700); err != nil {
		return nil, diskError("write", shown, err)
	}
	switch err := allowed.Mkdir(rel, 0o700); {
	case err == nil:
	case !errors.Is(err, fs.ErrExist):
		return nil, diskError("write", shown, err)
	default:
		if info, err := allowed.Lstat(rel); err != nil || !info.IsDir() {
			return nil, datafile.BadPathError(shown, "is there and is not a folder", "choose another outputDir")
		}
	}
	root, err := allowed.OpenRoot(rel)
	if err != nil {
		return nil, diskError("write", shown, err)
	}
	x := &extraction{root: root, files: []string{}}
	if err := x.takeOver(shown); err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

func (x *extraction) close() { _ = x.root.Close() }

// takeOver removes the files of an earlier extraction, and marks the folder.
func (x *extraction) takeOver(shown string) error {
	old, err := x.readMarker()
	if errors.Is(err, fs.ErrNotExist) {
		if clear, err := isEmpty(x.root, "."); err != nil || !clear {
			return &tool.Error{
				Op: "write", Kind: tool.Exists, Subject: shown,
				Message: "the folder has files in it and was not made by extract_doc",
				Hint:    "choose another outputDir, or move that folder away",
			}
		}
		return x.writeMarker()
	}
	if err != nil {
		return diskError("write", shown, err)
	}
	for _, name := range old {
		if filepath.IsLocal(filepath.FromSlash(name)) && name != markerFile {
			_ = x.root.Remove(filepath.FromSlash(name)) // if it cannot be removed, writing it will fail
		}
	}
	return x.writeMarker()
}

// readMarker returns the files that the marker lists.
func (x *extraction) readMarker() ([]string, error) {
	info, err := x.root.Lstat(markerFile)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxMarker {
		return nil, fs.ErrInvalid
	}
	f, err := x.root.Open(markerFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxMarker))
	return strings.Split(string(raw), "\n"), err
}

// writeMarker stores the list of files. It runs before the last of them is written.
func (x *extraction) writeMarker() error {
	raw := strings.Join(x.files, "\n") + "\n"
	if err := x.root.WriteFile(markerFile, []byte(raw), 0o600); err != nil {
		return diskError("write", markerFile, err)
	}
	return nil
}

// writeText writes a text file.
func (x *extraction) writeText(name, content string) error {
	return x.write(name, func(w io.Writer) (int64, error) { return io.Copy(w, strings.NewReader(content)) })
}

// copyFile copies a file of the workspace to name, a path with slashes.
func (x *extraction) copyFile(ctx context.Context, k *kernel.Client, from, name string) error {
	return x.write(name, func(w io.Writer) (int64, error) { return k.CopyFile(ctx, "/data/"+from, w, maxAsset) })
}

func (x *extraction) write(name string, content func(io.Writer) (int64, error)) error {
	if dir := path.Dir(name); dir != "." {
		if err := x.root.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
			return diskError("write", name, err)
		}
	}
	x.files = append(x.files, name)
	if err := x.writeMarker(); err != nil {
		return err
	}
	if _, err := writeNew(x.root, filepath.FromSlash(name), name, content); err != nil {
		x.files = x.files[:len(x.files)-1]
		_ = x.writeMarker() // one name too many does no harm
		return err
	}
	return nil
}

// isEmpty reports whether a folder is empty.
func isEmpty(root *os.Root, rel string) (bool, error) {
	f, err := root.Open(rel)
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}
