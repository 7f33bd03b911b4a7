// Package grantdb keeps grants, which let a model repeat a call without asking again, in the database that all processes
// with the same settings folder share.
package grantdb

import (
	"context"
	"time"

	"collie/internal/pipeline/gate/grant"
	"collie/internal/store"
	"collie/internal/tool"
)

// Schema is the table of this package.
var Schema = store.Schema{Name: "grants", Migrations: []string{`
CREATE TABLE granted (
	n INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	person TEXT NOT NULL DEFAULT '',
	scope TEXT NOT NULL CHECK (scope IN ('turn', 'session', 'always')),
	session TEXT NOT NULL,
	turn TEXT NOT NULL,
	principal TEXT NOT NULL,
	origin TEXT NOT NULL,
	source TEXT NOT NULL,
	tool TEXT NOT NULL,
	action TEXT NOT NULL,
	definition TEXT NOT NULL,
	rule TEXT NOT NULL,
	risk TEXT NOT NULL CHECK (risk IN ('none', 'low', 'medium', 'high')), -- never critical
	kind TEXT NOT NULL,
	value TEXT NOT NULL,
	name TEXT NOT NULL,
	created INTEGER NOT NULL, -- milliseconds
	expires INTEGER, -- NULL: never
	used INTEGER, -- NULL: never yet
	uses INTEGER NOT NULL DEFAULT 0,
	CHECK (risk <> 'high' OR expires IS NOT NULL)
) STRICT;
CREATE INDEX granted_action ON granted (source, tool, action);
`}}

const columns = `id, scope, session, turn, principal, origin, source, tool, action, definition, rule, risk, kind, value, name,
	created, expires, used, uses`

// isValid is a condition of SQL, with the time as its argument: grants that have not expired.
const isValid = " person = '' AND (expires IS NULL OR expires > ?) "

type grants struct {
	store *store.Store
	now   func() time.Time
}

// New returns a Store in s, which must be opened with [Schema]. A nil now means [time.Now].
func New(s *store.Store, now func() time.Time) grant.Store {
	if now == nil {
		now = time.Now
	}
	return grants{s, now}
}

// Add implements [grant.Store]. It also deletes expired grants.
func (g grants) Add(ctx context.Context, a *grant.Grant) error {
	return g.store.Write(ctx, func(tx *store.Tx) error {
		tx.Exec("DELETE FROM granted WHERE expires <= ?", g.now().UnixMilli())
		tx.Exec("INSERT INTO granted ("+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			a.ID, string(a.Scope), a.Session, a.Turn, a.Principal, string(a.Origin), a.Source, a.Tool, a.Action, a.Definition, a.Rule, string(a.Risk),
			string(a.Constraint.Kind), a.Constraint.Value, a.Constraint.Name, a.Created.UnixMilli(), milliseconds(a.Expires), milliseconds(a.Used), a.Uses)
		return tx.Err()
	})
}

// milliseconds returns t as Unix milliseconds, or NULL for the zero time.
func milliseconds(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// Find implements [grant.Store].
func (g grants) Find(ctx context.Context, source, toolName, action string) ([]grant.Grant, error) {
	return g.list(ctx, " AND source = ? AND tool = ? AND action = ?", source, toolName, action)
}

// List implements [grant.Store].
func (g grants) List(ctx context.Context) ([]grant.Grant, error) { return g.list(ctx, "") }

func (g grants) list(ctx context.Context, where string, args ...any) (out []grant.Grant, err error) {
	err = g.store.Read(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			out = append(out, readGrant(r))
			return true
		}, "SELECT "+columns+" FROM granted WHERE"+isValid+where+" ORDER BY n", append([]any{g.now().UnixMilli()}, args...)...)
		return tx.Err()
	})
	return out, err
}

func readGrant(r *store.Row) grant.Grant {
	return grant.Grant{
		ID: r.ColumnText(0), Scope: grant.Scope(r.ColumnText(1)), Session: r.ColumnText(2), Turn: r.ColumnText(3), Principal: r.ColumnText(4),
		Origin: tool.Origin(r.ColumnText(5)), Source: r.ColumnText(6), Tool: r.ColumnText(7), Action: r.ColumnText(8), Definition: r.ColumnText(9),
		Rule: r.ColumnText(10), Risk: tool.Risk(r.ColumnText(11)),
		Constraint: grant.Constraint{Kind: grant.Kind(r.ColumnText(12)), Value: r.ColumnText(13), Name: r.ColumnText(14)},
		Created:    timeAt(r, 15), Expires: timeAt(r, 16), Used: timeAt(r, 17), Uses: r.ColumnInt(18),
	}
}

// timeAt returns the time in a column, the zero time for NULL and 0.
func timeAt(r *store.Row, column int) time.Time {
	if ms := r.ColumnInt64(column); ms != 0 {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}

// Use implements [grant.Store]. A single statement checks and counts, so that a use cannot overtake a revocation by
// another process.
func (g grants) Use(ctx context.Context, id string) (used bool, err error) {
	err = g.store.Write(ctx, func(tx *store.Tx) error {
		now := g.now().UnixMilli()
		tx.Exec("UPDATE granted SET uses = uses + 1, used = ? WHERE id = ? AND"+isValid, now, id, now)
		used = tx.Err() == nil && tx.Changes() == 1
		return tx.Err()
	})
	return used && err == nil, err
}

// Revoke implements [grant.Store].
func (g grants) Revoke(ctx context.Context, id string) (was grant.Grant, err error) {
	err = g.store.Write(ctx, func(tx *store.Tx) error {
		found := false
		tx.Query(func(r *store.Row) bool {
			was, found = readGrant(r), true
			return false
		}, "SELECT "+columns+" FROM granted WHERE id = ? AND"+isValid, id, g.now().UnixMilli())
		if tx.Err() == nil && !found {
			return grant.NotFound(id)
		}
		tx.Exec("DELETE FROM granted WHERE id = ?", id)
		return tx.Err()
	})
	return was, err
}
