package guardian

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"collie/internal/store"
)

const (
	keptFor = 24 * time.Hour
	maxKept = 10_000
)

// Schema is the tables of this package.
var Schema = store.Schema{Name: "guardian", Migrations: []string{`
CREATE TABLE guardian_verdict (key BLOB PRIMARY KEY, verdict TEXT NOT NULL, made INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX guardian_verdict_made ON guardian_verdict (made);
`}}

// kept is the verdict with that key, unless it is too old. A store that cannot be read has none.
func (s *Stage) kept(ctx context.Context, db *store.Store, k key) (v verdict, found bool) {
	if db == nil {
		return v, false
	}
	err := db.Read(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			found = json.Unmarshal([]byte(r.ColumnText(0)), &v) == nil
			return false
		}, "SELECT verdict FROM guardian_verdict WHERE key = ? AND made > ?", k[:], s.opts.Now().Add(-keptFor).UnixNano())
		return tx.Err()
	})
	if err != nil {
		s.opts.Logger.Warn("verdicts of the guardian cannot be read", "error", err)
		return verdict{}, false
	}
	v.cached = found
	return v, found
}

// keep remembers a verdict, and forgets the oldest where there are too many.
func (s *Stage) keep(ctx context.Context, db *store.Store, k key, v *verdict) {
	if db == nil {
		return
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = db.Write(ctx, func(tx *store.Tx) error {
			now := s.opts.Now()
			tx.Exec("INSERT OR REPLACE INTO guardian_verdict (key, verdict, made) VALUES (?, ?, ?)", k[:], string(data), now.UnixNano())
			tx.Exec("DELETE FROM guardian_verdict WHERE made <= ?", now.Add(-keptFor).UnixNano())
			if n, _ := tx.Number("SELECT count(*) FROM guardian_verdict"); n > maxKept {
				tx.Exec("DELETE FROM guardian_verdict WHERE key IN (SELECT key FROM guardian_verdict ORDER BY made LIMIT ?)", n-maxKept)
			}
			return tx.Err()
		})
	}
	if err != nil {
		s.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "a verdict of the guardian was not kept", slog.Any("error", err))
	}
}
