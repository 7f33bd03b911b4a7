// Package keydb keeps what the key pool has learned about the API keys of model providers (which rest, until when, which
// conversation uses which) in Collie's database, so that it survives a restart.
package keydb

import (
	"context"
	"encoding/json"
	"time"

	"collie/internal/llm/keypool"
	"collie/internal/store"
)

// Schema defines the tables of this package.
var Schema = store.Schema{Name: "keys", Migrations: []string{`
CREATE TABLE key_state (
	person TEXT NOT NULL DEFAULT '', provider TEXT NOT NULL, label TEXT NOT NULL, mark TEXT NOT NULL, state TEXT NOT NULL,
	PRIMARY KEY (person, provider, label)) STRICT, WITHOUT ROWID;
CREATE TABLE key_binding (
	person TEXT NOT NULL DEFAULT '', provider TEXT NOT NULL, session TEXT NOT NULL, label TEXT NOT NULL, used INTEGER NOT NULL,
	PRIMARY KEY (person, provider, session)) STRICT, WITHOUT ROWID;
`}}

// bindingRetention is how long unused bindings are stored. It is longer than a binding is valid.
const bindingRetention = 24 * time.Hour

type keys struct{ store *store.Store }

// New returns a Store in s, which must be opened with [Schema].
func New(s *store.Store) keypool.Store { return keys{s} }

// Load implements [keypool.Store].
func (k keys) Load(ctx context.Context) (saved keypool.Saved, err error) {
	err = k.store.Read(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			var s keypool.KeyState
			if err := json.Unmarshal([]byte(r.ColumnText(1)), &s); err != nil {
				_ = tx.Fail(err)
				return false
			}
			s.Fingerprint = r.ColumnText(0)
			saved.Keys = append(saved.Keys, s)
			return true
		}, "SELECT mark, state FROM key_state WHERE person = ''")
		tx.Query(func(r *store.Row) bool {
			saved.Bindings = append(saved.Bindings, keypool.Binding{
				Provider: r.ColumnText(0), Session: r.ColumnText(1), Label: r.ColumnText(2), Used: time.Unix(0, r.ColumnInt64(3)).UTC(),
			})
			return true
		}, "SELECT provider, session, label, used FROM key_binding WHERE person = ''")
		return tx.Err()
	})
	return saved, err
}

// Save implements [keypool.Store].
func (k keys) Save(ctx context.Context, changed keypool.Saved) error {
	return k.store.Write(ctx, func(tx *store.Tx) error {
		for _, s := range changed.Keys {
			if s.Gone {
				tx.Exec("DELETE FROM key_state WHERE person = '' AND provider = ? AND label = ?", s.Provider, s.Label)
				continue
			}
			raw, err := json.Marshal(s)
			if err != nil {
				return err
			}
			tx.Exec("INSERT OR REPLACE INTO key_state (provider, label, mark, state) VALUES (?, ?, ?, ?)", s.Provider, s.Label, s.Fingerprint, string(raw))
		}
		var latest int64
		for _, b := range changed.Bindings {
			if b.Gone {
				tx.Exec("DELETE FROM key_binding WHERE person = '' AND provider = ? AND session = ?", b.Provider, b.Session)
				continue
			}
			latest = max(latest, b.Used.UnixNano())
			tx.Exec("INSERT OR REPLACE INTO key_binding (provider, session, label, used) VALUES (?, ?, ?, ?)", b.Provider, b.Session, b.Label, b.Used.UnixNano())
		}
		if latest > 0 {
			tx.Exec("DELETE FROM key_binding WHERE used < ?", latest-int64(bindingRetention))
		}
		return tx.Err()
	})
}
