package kerneltest

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // names, as the kernel makes them
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// repo is the data repository: snapshots of all that is below /data.
type repo struct {
	ready     bool
	snapshots []*snapshotOf // oldest first
	tags      map[string]*repoTag
}

type repoTag struct {
	snapshot *snapshotOf
	updated  time.Time
}

type snapshotOf struct {
	id, memo string
	created  time.Time
	files    map[string]snapshotFile // by path
}

type snapshotFile struct {
	id, title string
	size      int
	updated   time.Time
	doc       *block // of a document
}

// repoFamily answers the data repository.
func repoFamily(k *Kernel) {
	r := &repo{tags: map[string]*repoTag{}}
	init := func(k *Kernel, _ request) reply {
		if !r.ready {
			r.ready = true
			r.take(k, "[Init] Init local data repo")
		}
		return ok(map[string]any{"key": "TEST_REPO_KEY"})
	}
	k.handle("/api/repo/initRepoKey", init)
	k.handle("/api/repo/initRepoKeyFromPassphrase", init)
	k.handle("/api/repo/createSnapshot", r.create)
	k.handle("/api/repo/getRepoSnapshots", r.list)
	k.handle("/api/repo/getRepoTagSnapshots", r.listTags)
	k.handle("/api/repo/tagSnapshot", r.tag)
	k.handle("/api/repo/removeRepoTagSnapshot", func(_ *Kernel, req request) reply {
		delete(r.tags, req.needText("tag"))
		return done()
	})
	k.handle("/api/repo/diffRepoSnapshots", r.diff)
	k.handle("/api/repo/openRepoSnapshotFile", r.open)
	k.handle("/api/repo/rollbackRepoSnapshotFile", r.rollback)
}

const (
	noRepoKey      = "Please initialize the data repo key first in [Settings - Account & Sync - Data repo key]"
	snapshotFailed = "Failed to create data snapshot: "
)

// take makes a snapshot, unless nothing has changed since the last one.
func (r *repo) take(k *Kernel, memo string) {
	s := &snapshotOf{memo: memo, created: time.Now(), files: map[string]snapshotFile{}}
	var sum strings.Builder
	files := k.all()
	for _, p := range slices.Sorted(maps.Keys(files)) {
		f, rel := files[p], strings.TrimPrefix(p, "/data")
		if f.dir || rel == p || strings.HasPrefix(rel, "/.siyuan") {
			continue
		}
		file := snapshotFile{title: path.Base(p), size: len(f.data), updated: f.changed}
		file.id = fmt.Sprintf("%x", sha1.Sum(append([]byte(rel+"\x00"), f.data...))) //nolint:gosec // see above
		if d := k.documents[documentID(rel)]; d != nil && path.Ext(rel) == ".sy" {
			file.title, file.doc, file.updated = d.title(), cloneTree(d.root), d.changed
		}
		s.files[rel] = file
		sum.WriteString(file.id)
	}
	content := fmt.Sprintf("%x", sha1.Sum([]byte(sum.String()))) //nolint:gosec // see above
	if n := len(r.snapshots); n > 0 && maps.EqualFunc(r.snapshots[n-1].files, s.files, func(a, b snapshotFile) bool { return a.id == b.id }) {
		return
	}
	s.id = fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "%s %d", content, len(r.snapshots)))) //nolint:gosec // see above
	r.snapshots = append(r.snapshots, s)
}

func (r *repo) create(k *Kernel, req request) reply {
	memo := req.needStr("memo")
	switch {
	case !r.ready:
		return notice(snapshotFailed+noRepoKey, 5000)
	case strings.TrimSpace(memo) == "":
		return notice(snapshotFailed+"Input can not be empty", 5000)
	}
	r.take(k, memo)
	return done()
}

func (s *snapshotOf) shown(tag string, tagged time.Time) map[string]any {
	const layout = "2006-01-02 15:04:05"
	size, types := 0, map[string]int{}
	for p, f := range s.files {
		size += f.size
		types[cmp.Or(path.Ext(p), "NoExt")]++
	}
	counts := []any{}
	for _, ext := range slices.SortedFunc(maps.Keys(types), func(a, b string) int {
		return cmp.Or(cmp.Compare(types[b], types[a]), strings.Compare(a, b))
	}) {
		counts = append(counts, map[string]any{"type": ext, "count": types[ext]})
	}
	updated := ""
	if tag != "" {
		updated = tagged.Format(layout)
	}
	return map[string]any{
		"id": s.id, "memo": s.memo, "created": s.created.UnixMilli(), "hCreated": s.created.Format(layout), "files": nil,
		"count": len(s.files), "size": size, "hSize": fmt.Sprintf("%.2f kB", float64(size)/1000), "systemID": "q7b493h2mxld",
		"systemName": "vm", "systemOS": "linux", "tag": tag, "hTagUpdated": updated, "typesCount": counts,
	}
}

func (r *repo) list(_ *Kernel, req request) reply {
	const size = 32
	if !req.Get("page").Exists() {
		return fail(-1, "Field [page] is required")
	}
	if !r.ready {
		return fail(-1, noRepoKey)
	}
	shown := []any{}
	page := req.optNum("page", 1)
	for i, s := range slices.Backward(r.snapshots) {
		if at := len(r.snapshots) - 1 - i; at/size == page-1 {
			shown = append(shown, s.shown("", time.Time{}))
		}
	}
	return ok(map[string]any{"snapshots": shown, "pageCount": (len(r.snapshots) + size - 1) / size, "totalCount": len(r.snapshots)})
}

func (r *repo) listTags(*Kernel, request) reply {
	if !r.ready {
		return fail(-1, noRepoKey)
	}
	shown := []any{}
	for _, name := range slices.Sorted(maps.Keys(r.tags)) {
		shown = append(shown, r.tags[name].snapshot.shown(name, r.tags[name].updated))
	}
	return ok(map[string]any{"snapshots": shown})
}

func (r *repo) snapshot(id string) (*snapshotOf, error) {
	if i := slices.IndexFunc(r.snapshots, func(s *snapshotOf) bool { return s.id == id }); i >= 0 {
		return r.snapshots[i], nil
	}
	return nil, fmt.Errorf("open %s/repo/indexes/%s: no such file or directory", workspaceDir, id)
}

func (r *repo) tag(_ *Kernel, req request) reply {
	id, name := req.needText("id"), req.needStr("name")
	switch {
	case strings.TrimSpace(name) == "":
		return notice(snapshotFailed+"Input can not be empty", 5000)
	case strings.ContainsAny(name, `\/:*?"'<>|`):
		return notice(snapshotFailed+`Do not include symbols \ / : * ? &quot; &#039; &lt; &gt; |`, 5000)
	}
	s, err := r.snapshot(id)
	if err != nil {
		return notice(snapshotFailed+err.Error(), 5000)
	}
	r.tags[name] = &repoTag{s, time.Now()}
	return done()
}

func (r *repo) diff(_ *Kernel, req request) reply {
	left, err := r.snapshot(req.needText("left"))
	if err != nil {
		return fail(-1, err.Error())
	}
	right, err := r.snapshot(req.needText("right"))
	if err != nil {
		return fail(-1, err.Error())
	}
	onlyLeft, onlyRight, changedLeft, changedRight := []any{}, []any{}, []any{}, []any{}
	for _, p := range slices.Sorted(maps.Keys(left.files)) {
		l, other := left.files[p], right.files[p]
		switch other.id {
		case "":
			onlyLeft = append(onlyLeft, l.shown(p))
		case l.id:
		default:
			changedLeft, changedRight = append(changedLeft, l.shown(p)), append(changedRight, other.shown(p))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(right.files)) {
		if left.files[p].id == "" {
			onlyRight = append(onlyRight, right.files[p].shown(p))
		}
	}
	side := func(s *snapshotOf) any { return map[string]any{"id": s.id, "created": s.created.UnixMilli()} }
	return ok(map[string]any{
		"left": side(left), "right": side(right), "addsLeft": onlyRight, "removesRight": onlyLeft, "updatesLeft": changedLeft,
		"updatesRight": changedRight,
	})
}

func (f snapshotFile) shown(p string) map[string]any {
	return map[string]any{
		"fileID": f.id, "indexID": "", "title": f.title, "path": p, "hSize": fmt.Sprintf("%d B", f.size), "updated": f.updated.UnixMilli(),
	}
}

func (r *repo) file(id string) (snapshotFile, error) {
	for _, s := range r.snapshots {
		for _, f := range s.files {
			if f.id == id {
				return f, nil
			}
		}
	}
	return snapshotFile{}, fmt.Errorf("open %s/repo/objects/%.2s/%s: no such file or directory", workspaceDir, id, id[min(2, len(id)):])
}

func (r *repo) open(_ *Kernel, req request) reply {
	f, err := r.file(req.needText("id"))
	if err != nil {
		return fail(-1, err.Error())
	}
	content := ""
	if f.doc != nil {
		content = keptDOM(f.doc)
	}
	return ok(map[string]any{"content": content, "displayInText": false, "title": f.title, "updated": f.updated.UnixMilli()})
}

func (r *repo) rollback(k *Kernel, req request) reply {
	f, err := r.file(req.needText("id"))
	if err != nil {
		return fail(-1, err.Error())
	}
	if f.doc != nil {
		k.restore(f.doc.id, f.doc)
	}
	return done()
}
