package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"collie/internal/sorting"
	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that compare snapshots and restore files from them.

// shownFile is a file of a snapshot as answers show it.
type shownFile struct {
	ID      string `json:"fileID"`
	Index   string `json:"indexID"`
	Title   string `json:"title"`
	Path    string `json:"path"`
	HSize   string `json:"hSize"`
	Updated int64  `json:"updated"`
}

func (f *file) shown() shownFile {
	return shownFile{ID: f.ID, Title: f.Title, Path: f.Path, HSize: humanSize(f.Size), Updated: f.Updated}
}

// side identifies one of the compared snapshots.
type side struct {
	ID      string `json:"id"`
	Created int64  `json:"created"`
}

// comparison is the difference of two snapshots. The JSON names are those of the kernel: they say what makes the right
// snapshot out of the left one. ChangedLeft and ChangedRight have the same files in the same order.
type comparison struct {
	OnlyRight    []shownFile `json:"addsLeft"`
	Left         side        `json:"left"`
	OnlyLeft     []shownFile `json:"removesRight"`
	Right        side        `json:"right"`
	ChangedLeft  []shownFile `json:"updatesLeft"`
	ChangedRight []shownFile `json:"updatesRight"`
}

// diffSnapshots compares two snapshots. It reads only the records of files that differ.
func diffSnapshots(tx *workspace.Tx, req api.Request) api.Reply {
	left, err := findSnapshot(tx, req.NeedText("left"))
	if err != nil {
		return api.Fail(-1, err.Error())
	}
	right, err := findSnapshot(tx, req.NeedText("right"))
	if err != nil {
		return api.Fail(-1, err.Error())
	}
	out := comparison{
		OnlyRight: []shownFile{}, OnlyLeft: []shownFile{}, ChangedLeft: []shownFile{}, ChangedRight: []shownFile{},
		Left: side{left.ID, left.Created}, Right: side{right.ID, right.Created},
	}
	inLeft, inRight := left.files(tx), right.files(tx)
	onlyRight := byPath(filesNotIn(tx, inRight, inLeft))
	for _, f := range filesNotIn(tx, inLeft, inRight) {
		rightFile, inBoth := onlyRight[f.Path]
		if !inBoth {
			out.OnlyLeft = append(out.OnlyLeft, f.shown())
			continue
		}
		delete(onlyRight, f.Path)
		if f.Object != rightFile.Object || f.Title != rightFile.Title {
			out.ChangedLeft, out.ChangedRight = append(out.ChangedLeft, f.shown()), append(out.ChangedRight, rightFile.shown())
		}
	}
	for _, f := range onlyRight {
		out.OnlyRight = append(out.OnlyRight, f.shown())
	}
	sorting.By(out.OnlyRight, func(a, b shownFile) int { return strings.Compare(a.Path, b.Path) })
	return api.OK(out)
}

// filesNotIn returns the files of one list that are not in another, by path. Both lists are sorted.
func filesNotIn(tx *workspace.Tx, list, excluded []string) []file {
	var missing []file
	for _, id := range list {
		if _, isExcluded := slices.BinarySearch(excluded, id); isExcluded {
			continue
		}
		if f, err := findFile(tx, id); err == nil {
			missing = append(missing, f)
		}
	}
	sorting.By(missing, func(a, b file) int { return cmp.Compare(a.Path, b.Path) })
	return missing
}

func byPath(list []file) map[string]file {
	m := make(map[string]file, len(list))
	for _, f := range list {
		m[f.Path] = f
	}
	return m
}

// openFile returns a document of a snapshot as read-only DOM; for other files it returns only the title.
func openFile(tx *workspace.Tx, req api.Request) api.Reply {
	f, err := findFile(tx, req.NeedText("id"))
	if err != nil {
		return api.Fail(-1, err.Error())
	}
	dom := ""
	if f.Doc {
		root, err := markup.ParseSY(f.bytes(tx))
		if err != nil {
			return api.Fail(-1, err.Error())
		}
		dom = readOnlyDOM(root)
	}
	return api.OK(map[string]any{"content": dom, "displayInText": false, "title": f.Title, "updated": f.Updated})
}

// rollbackFile restores a document or file from a snapshot to its path.
func rollbackFile(tx *workspace.Tx, req api.Request) api.Reply {
	f, err := findFile(tx, req.NeedText("id"))
	switch {
	case err != nil:
		return api.Fail(-1, err.Error())
	case f.Derived:
		return api.Fail(-1, "this file says how a notebook was kept and cannot be put back by itself: "+f.Path)
	case f.Doc:
		box, at, _ := strings.Cut(strings.TrimPrefix(f.Path, "/"), "/")
		return restoreDocument(tx, box, "/"+at, f.bytes(tx))
	}
	tx.WriteFile("/data"+f.Path, f.bytes(tx), time.UnixMilli(f.Updated))
	return api.Done()
}
