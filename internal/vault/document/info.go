package document

import (
	"fmt"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// getNotebookInfo counts a notebook's documents. Sizes are those of the texts and attributes, which is about what .sy
// files take.
func getNotebookInfo(tx *workspace.Tx, req api.Request) api.Reply {
	id := req.ID("notebook")
	box := tx.Notebook(id)
	if box == nil {
		return api.Fail(-1, fmt.Sprintf("notebook [%s] not found", id))
	}
	made := tree.IDTime(id)
	count, size, changed := 0, int64(0), made
	tx.Rows(func(row workspace.Row) bool {
		count = int(row.Int(0))
		if latest := time.UnixMilli(row.Int(1)); latest.After(changed) {
			changed = latest
		}
		return true
	}, "SELECT count(*) FILTER (WHERE id <> box), max(changed) FROM document WHERE box = ?", id)
	tx.Rows(func(row workspace.Row) bool {
		size = row.Int(0)
		return true
	}, "SELECT coalesce(sum(size), 0) FROM document WHERE box = ?", id)
	return api.OK(map[string]any{"boxInfo": map[string]any{
		"id": id, "name": box.Conf.Name, "docCount": count, "size": size, "hSize": humanSize(size),
		"mtime": changed.Unix(), "ctime": made.Unix(), "hMtime": humanTime(changed), "hCtime": humanTime(made),
	}})
}

// humanSize is a number of bytes the way listings show it.
func humanSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// humanTime is a time the way listings show it.
func humanTime(t time.Time) string { return t.Format(time.DateTime) + ", " + ago(time.Since(t)) }

// ago is how long ago something was, in the largest unit that fits.
func ago(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		name string
		span time.Duration
	}{
		{"year", 365 * day},
		{"month", 30 * day},
		{"day", day},
		{"hour", time.Hour},
		{"minute", time.Minute},
		{"second", time.Second},
	} {
		switch n := d / unit.span; {
		case n == 1:
			return "1 " + unit.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "now"
}
