// Package admin lets people see and revoke grants: what somebody who was asked about a call has allowed beyond it, for a
// while. The command line and the API use it.
package admin

import (
	"context"
	"encoding/json"

	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate/grant"
	"collie/internal/tool"
)

// Grant is a permission that a person gave for more than one call.
type Grant = grant.Grant

// Grants gives access to the grants of a home. It is safe for concurrent use if its functions are.
type Grants struct {
	// Use calls do with the store of grants, unless there is no store yet.
	Use func(ctx context.Context, op string, do func(grant.Store) error) error
	// Record writes an audit record, and returns when it is on disk.
	Record func(ctx context.Context, rec tool.Record) error
}

// List returns the grants that have not expired, oldest first.
func (g Grants) List(ctx context.Context) (all []Grant, err error) {
	err = g.Use(ctx, "list", func(s grant.Store) error {
		all, err = s.List(ctx)
		return err
	})
	return all, err
}

// Revoke removes a grant and records that. For an unknown id the error has kind NotFound.
func (g Grants) Revoke(ctx context.Context, id string) (was Grant, err error) {
	found := grant.NotFound(id)
	err = g.Use(ctx, "revoke", func(s grant.Store) error {
		found = nil
		if was, err = s.Revoke(ctx, id); err != nil {
			return err
		}
		detail, err := json.Marshal(map[string]any{"revoked": was})
		if err != nil {
			return err
		}
		return g.Record(ctx, tool.Record{
			Kind: audit.KindGrant, Origin: tool.Direct, Name: "grants revoke", Tool: was.Tool, Action: was.Action, Risk: was.Risk, Detail: detail,
		})
	})
	if err == nil {
		err = found
	}
	return was, err
}
