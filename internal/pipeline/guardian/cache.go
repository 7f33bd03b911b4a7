package guardian

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"collie/internal/store"
)

const (
	cacheTTL  = 24 * time.Hour
	maxCached = 10_000
)

// Schema is the table of the cache.
var Schema = store.Schema{Name: "guardian", Migrations: []string{`
CREATE TABLE guardian_verdict (key BLOB PRIMARY KEY, verdict TEXT NOT NULL, made INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX guardian_verdict_made ON guardian_verdict (made);
`}}

// findCached returns the verdict with that key if it is not older than cacheTTL. If the store cannot be read, nothing is
// found.
func (s *Stage) findCached(ctx context.Context, db *store.Store, k key) (v verdict, found bool) {
	if db == nil {
		return v, false
	}
	err := db.Read(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			found = json.Unmarshal([]byte(r.ColumnText(0)), &v) == nil
			return false
		}, "SELECT verdict FROM guardian_verdict WHERE key = ? AND made > ?", k[:], s.opts.Now().Add(-cacheTTL).UnixNano())
		return tx.Err()
	})
	if err != nil {
		s.opts.Logger.Warn("verdicts of the guardian cannot be read", "error", err)
		return verdict{}, false
	}
	v.cached = found
	return v, found
}

// storeVerdict stores a verdict and deletes expired ones, and the oldest if there are too many.
func (s *Stage) storeVerdict(ctx context.Context, db *store.Store, k key, v *verdict) {
	if db == nil {
		return
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = db.Write(ctx, func(tx *store.Tx) error {
			now := s.opts.Now()
			tx.Exec("INSERT OR REPLACE INTO guardian_verdict (key, verdict, made) VALUES (?, ?, ?)", k[:], string(data), now.UnixNano())
			tx.Exec("DELETE FROM guardian_verdict WHERE made <= ?", now.Add(-cacheTTL).UnixNano())
			if n, _ := tx.Number("SELECT count(*) FROM guardian_verdict"); n > maxCached {
				tx.Exec("DELETE FROM guardian_verdict WHERE key IN (SELECT key FROM guardian_verdict ORDER BY made LIMIT ?)", n-maxCached)
			}
			return tx.Err()
		})
	}
	if err != nil {
		s.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "a verdict of the guardian was not kept", slog.Any("error", err))
	}
}
