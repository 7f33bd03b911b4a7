package av

import (
	"context"
	"fmt"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file finds the other databases that change along with one: the kernel keeps both ends of a two-way relation equal.

// levelsHint is the hint for a related database whose level is too low.
const levelsHint = "collie siyuan permission list shows the levels"

// isRelatedElsewhere reports whether a column is related to another database than its own.
func isRelatedElsewhere(db *kernel.Database, c *kernel.Column) bool {
	return c.Relation != nil && c.Relation.Database != "" && c.Relation.Database != db.ID
}

// relatedDatabase returns the database that a column is related to, as a target. If it may not be read, the error is
// denied, which does not name it. A database that no block shows belongs to no notebook: it counts as one that may not
// be read, unless every notebook may be written.
func relatedDatabase(ctx context.Context, r *action.Request, c *kernel.Column, denied *tool.Error) ([]action.Target, error) {
	t, err := owningTarget(ctx, r, c.Relation.Database)
	if err == nil {
		return []action.Target{t}, nil
	}
	if tool.KindOf(err) != tool.NotFound {
		return nil, err
	}
	err = r.Levels.Everywhere(ctx, access.Write)
	if tool.KindOf(err) == tool.Denied {
		return nil, denied
	}
	return nil, err
}

// mirroringDatabases returns the databases that two-way relations are to. Removed rows are removed from their cells too.
// All of them count, whether they have such cells or not, because a refusal must not tell what hidden cells have.
func mirroringDatabases(ctx context.Context, r *action.Request) ([]action.Target, error) {
	db, err := loadDatabase(ctx, r, r.Target("avID").ID)
	if err != nil {
		return nil, err
	}
	var out []action.Target
	for i := range db.Columns {
		c := &db.Columns[i].Column
		if !isRelatedElsewhere(db, c) || !c.Relation.TwoWay || slices.ContainsFunc(out, func(t action.Target) bool { return t.ID == c.Relation.Database }) {
			continue
		}
		found, err := relatedDatabase(ctx, r, c, relationDeniedError(c, access.Write, levelsHint))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// refreshDatabases reloads the databases that a call has changed.
func refreshDatabases(r *action.Request) {
	for _, t := range r.WritableTargets() {
		r.RefreshDatabase(t.ID)
	}
}

// relationDeniedError returns the error for a relation to a database that the caller may not access. It does not reveal which one.
func relationDeniedError(c *kernel.Column, need access.Level, hint string) *tool.Error {
	return &tool.Error{
		Op: "check", Kind: tool.Denied, Subject: string(c.ID),
		Message: fmt.Sprintf("column %q is related to a database that the levels do not allow to %s", c.Name, need.Verb()),
		Hint:    hint,
		Facts:   map[string]any{"required_permission": need.Verb()},
	}
}
