package timeline

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file finds the earlier version that a rollback restores, in the history or in a node.

// versionFromHistory returns the version in a copy of the document.
func versionFromHistory(ctx context.Context, r *action.Request, target *action.Target, historyPath string) (*version, error) {
	got, err := readCopy(ctx, r, target, historyPath)
	if err != nil {
		return nil, err
	}
	v := &version{blocks: parseBlocks(got.Content)}
	v.isCurrent = func(ctx context.Context, present []blockState) (bool, error) {
		identical, ok, err := sameFiles(ctx, r, "/data/"+string(target.Notebook)+target.Path, historyPath)
		if err != nil || ok {
			return identical, err
		}
		return len(diffBlocks(v.blocks, present)) == 0, nil
	}
	v.read = func(ctx context.Context) (string, error) {
		got, err := r.Kernel.HistoryContent(ctx, historyPath)
		return got.Content, err
	}
	v.restore = func(ctx context.Context) error { return r.Kernel.RollbackHistory(ctx, target.Notebook, historyPath) }
	return v, nil
}

// sameFiles compares two .sy files, except for times of changes. ok is false if one of them does not exist or is not
// JSON.
func sameFiles(ctx context.Context, r *action.Request, a, b string) (identical, ok bool, err error) {
	var trees [2]any
	for i, p := range []string{a, b} {
		raw, err := r.Kernel.ReadFile(ctx, p)
		if err != nil && tool.KindOf(err) == tool.NotFound {
			return false, false, nil
		}
		if err != nil {
			return false, false, err
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if d.Decode(&trees[i]) != nil {
			return false, false, nil //nolint:nilerr // ok says it
		}
		withoutTimes(trees[i])
	}
	return reflect.DeepEqual(trees[0], trees[1]), true, nil
}

func withoutTimes(v any) {
	switch v := v.(type) {
	case map[string]any:
		if properties, ok := v["Properties"].(map[string]any); ok {
			delete(properties, "updated")
		}
		for _, m := range v {
			withoutTimes(m)
		}
	case []any:
		for _, m := range v {
			withoutTimes(m)
		}
	}
}

// versionFromNode returns the version of the document in a node's snapshot.
func versionFromNode(ctx context.Context, r *action.Request, target *action.Target, tag string) (*version, error) {
	notFound := access.NotFound(access.History, tag)
	n, ok := parseTag(tag)
	if !ok || n.Document != "" && n.Document != target.Root {
		return nil, notFound
	}
	list, err := listAllNodes(ctx, r)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(o node) bool { return o.Tag == tag })
	if i < 0 {
		return nil, notFound
	}
	snapshot, err := takeSnapshot(ctx, r, "before "+n.Name)
	if err != nil {
		return nil, err
	}
	file, err := snapshotFile(ctx, r, target, snapshot.ID, list[i].Snapshot)
	if err != nil {
		return nil, err
	}
	got, err := r.Kernel.SnapshotContent(ctx, file)
	if err != nil {
		return nil, err
	}
	if got.Text {
		return nil, tooLargeError(target.Root, "its copy is shown as plain text")
	}
	v := &version{blocks: parseBlocks(got.Content)}
	v.isCurrent = func(_ context.Context, present []blockState) (bool, error) {
		return got.Title == target.Title && len(diffBlocks(v.blocks, present)) == 0, nil
	}
	v.read = func(ctx context.Context) (string, error) {
		got, err := r.Kernel.SnapshotContent(ctx, file)
		return got.Content, err
	}
	v.restore = func(ctx context.Context) error { return r.Kernel.RollbackSnapshotFile(ctx, file) }
	return v, nil
}

// snapshotFile returns the id of the document's file in the snapshot right. If it does not differ from the file in the snapshot
// left, which is of the current workspace, the error is that of alreadyCurrentError.
func snapshotFile(ctx context.Context, r *action.Request, target *action.Target, left, right string) (string, error) {
	d, err := r.Kernel.DiffSnapshots(ctx, left, right)
	if err != nil {
		return "", err
	}
	at := "/" + string(target.Notebook) + target.Path
	isTarget := func(f kernel.SnapshotFile) bool { return f.Path == at }
	if i := slices.IndexFunc(d.ChangedRight, isTarget); i >= 0 {
		return d.ChangedRight[i].ID, nil
	}
	if slices.ContainsFunc(d.OnlyLeft, isTarget) {
		return "", &tool.Error{
			Op: "bring back", Kind: tool.Conflicting, Subject: string(target.Root), Message: "the node has no such document at this place: it was made or moved since",
			Hint: "a person finds it in SiYuan under Data history - Data snapshot",
		}
	}
	return "", alreadyCurrentError(target.Root)
}

// isCopyOf reports whether p is the path of a copy that was made of a document in its current notebook:
// "/history/<time>-<op>/<notebook>/…/<document>.sy". A copy from another notebook may have to stay hidden.
func isCopyOf(p string, target *action.Target) bool {
	steps := strings.Split(p, "/")
	if path.Clean(p) != p || len(steps) < 5 || steps[0] != "" || steps[1] != "history" || steps[3] != string(target.Notebook) {
		return false
	}
	for _, parent := range steps[4 : len(steps)-1] {
		if !kernel.ID(parent).Valid() {
			return false
		}
	}
	return steps[len(steps)-1] == string(target.Root)+".sy" && !strings.ContainsAny(p, "\\\x00")
}

// readCopy reads a copy of a document.
func readCopy(ctx context.Context, r *action.Request, target *action.Target, historyPath string) (kernel.HistoryContent, error) {
	if !isCopyOf(historyPath, target) {
		return kernel.HistoryContent{}, access.NotFound(access.History, historyPath)
	}
	got, err := r.Kernel.HistoryContent(ctx, historyPath)
	switch {
	case err != nil:
		return got, err
	case got.ID != target.Root:
		return got, access.NotFound(access.History, historyPath)
	case got.Large:
		return got, tooLargeError(target.Root, "its copy is kept as plain text")
	}
	return got, nil
}
