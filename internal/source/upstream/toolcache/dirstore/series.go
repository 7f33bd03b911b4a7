package dirstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The names in the folder of a [series].
const (
	head   = "head.json"
	unborn = ".new-"
	dying  = ".old-"
)

// errSwept means that what a writer had written was taken for that of a crashed one.
var errSwept = errors.New("cleaned away by another writer")

// series is a folder of numbered versions, each a folder with a head. The highest number
// counts. A version appears whole by the rename of a folder and never changes; its number is
// taken once, by the one whose rename came first.
type series struct {
	dir  string
	mode fs.FileMode
}

func (s series) path(n uint64) string { return filepath.Join(s.dir, fmt.Sprintf("%012d", n)) }

// numbers lists the versions in order. No folder is no version.
func (s series) numbers() ([]uint64, error) {
	list, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []uint64
	for _, e := range list {
		if n, err := strconv.ParseUint(e.Name(), 10, 64); err == nil && n > 0 && filepath.Base(s.path(n)) == e.Name() {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// latest returns the highest number, 0 for none. A listing may miss what was renamed while
// it ran; numbers have no gaps at the top, so asking for the next one mends that.
func (s series) latest(ctx context.Context) (uint64, error) {
	all, err := s.numbers()
	if err != nil || len(all) == 0 {
		return 0, err
	}
	n := all[len(all)-1]
	for ; ctx.Err() == nil; n++ {
		if _, err := os.Lstat(s.path(n + 1)); err != nil {
			break
		}
	}
	return n, ctx.Err()
}

// stage writes files into a new folder that is no version yet. The caller publishes or removes
// the folder. The error matches [errSwept] where another has cleaned the folder away.
func (s series) stage(ctx context.Context, files map[string][]byte) (folder string, err error) {
	folderMode := s.mode | s.mode&0o444>>2 | 0o700
	if err := os.MkdirAll(s.dir, folderMode); err != nil {
		return "", err
	}
	folder = filepath.Join(s.dir, unborn+randomID())
	if err := os.Mkdir(folder, folderMode); err != nil {
		return "", err
	}
	for name, data := range files {
		if err = ctx.Err(); err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, s.mode)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "", errSwept
		}
		if err != nil {
			_ = os.RemoveAll(folder) // the first error is the one to tell
			return "", err
		}
	}
	return folder, nil
}

// publish makes the staged folder version n, whose head is content. won is false where n is
// taken, and where the folder was: cleaned away as that of a crashed writer.
func (s series) publish(ctx context.Context, folder string, n uint64, content []byte) (won bool, err error) {
	err = os.Rename(folder, s.path(n))
	// Indexers and virus scanners keep Windows from renaming what they look at.
	for range 10 {
		if _, taken := os.Lstat(s.path(n)); err == nil || taken == nil || !errors.Is(err, fs.ErrPermission) {
			break
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			break
		}
		err = os.Rename(folder, s.path(n))
	}
	if err == nil {
		return true, nil
	}
	// A network file system may report the failure of a rename that it did twice.
	there, readErr := os.ReadFile(filepath.Join(s.path(n), head))
	if readErr == nil && bytes.Equal(there, content) {
		return true, nil
	}
	if _, taken := os.Lstat(s.path(n)); taken == nil || errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	_ = os.RemoveAll(folder)
	return false, err
}

// remove takes a folder away so that nobody sees half of it.
func (s series) remove(folder string) {
	old := filepath.Join(s.dir, dying+randomID())
	if err := os.Rename(folder, old); err == nil {
		_ = os.RemoveAll(old) // what stays is removed by the next cleaning
	}
}

// sweep removes folders that died half way, and those of writers that have not been heard of
// since before.
func (s series) sweep(before time.Time) {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range list {
		path := filepath.Join(s.dir, e.Name())
		switch info, err := e.Info(); {
		case err != nil:
		case strings.HasPrefix(e.Name(), dying):
			_ = os.RemoveAll(path)
		case strings.HasPrefix(e.Name(), unborn) && info.ModTime().Before(before):
			s.remove(path)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func randomID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
