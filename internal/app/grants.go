package app

import (
	"context"
	"encoding/json"
	"errors"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate/grant"
	"collie/internal/pipeline/gate/grant/grantdb"
	"collie/internal/store"
	"collie/internal/tool"
)

// Grant is what a person has allowed for more than one call.
type Grant = grant.Grant

// grants returns what the gate looks in and writes to. Only calls of conversations get that far, so the store is open.
func (a *App) grants(ctx context.Context) (grant.Store, error) {
	h := a.host.now.Load()
	if h == nil {
		var err error
		if h, err = a.Host(ctx); err != nil {
			return nil, err
		}
	}
	return grantdb.New(h.Store, nil), nil
}

// Grants lists and revokes what people have allowed.
type Grants interface {
	// List returns the grants that have not expired, oldest first.
	List(ctx context.Context) ([]Grant, error)
	// Revoke takes a grant back and puts that on record. The error for an unknown id is of kind NotFound.
	Revoke(ctx context.Context, id string) (Grant, error)
}

// Grants are those of the store of a.
func (a *App) Grants() Grants { return openGrants{a} }

type openGrants struct{ app *App }

// List implements [Grants].
func (g openGrants) List(ctx context.Context) ([]Grant, error) {
	if _, exists := StoreFile(g.app.settings()); !exists && g.app.host.now.Load() == nil {
		return nil, nil
	}
	s, err := g.app.grants(ctx)
	if err != nil {
		return nil, err
	}
	return s.List(ctx)
}

// Revoke implements [Grants].
func (g openGrants) Revoke(ctx context.Context, id string) (Grant, error) {
	if _, exists := StoreFile(g.app.settings()); !exists && g.app.host.now.Load() == nil {
		return Grant{}, grant.NotFound(id)
	}
	s, err := g.app.grants(ctx)
	if err != nil {
		return Grant{}, err
	}
	return revoke(ctx, s, id, g.app.Audit.AppendSync)
}

// revoke takes a grant back, and puts that on record.
func revoke(ctx context.Context, s grant.Store, id string, record func(context.Context, tool.Record) error) (Grant, error) {
	was, err := s.Revoke(ctx, id)
	if err != nil {
		return was, err
	}
	detail, err := json.Marshal(map[string]any{"revoked": was})
	if err != nil {
		return was, err
	}
	return was, record(ctx, tool.Record{Kind: audit.KindGrant, Origin: tool.Direct, Name: "grants revoke", Tool: was.Tool, Action: was.Action, Risk: was.Risk, Detail: detail})
}

// FileGrants are those of the home that cfg belongs to, for commands that run without a gateway. They open the file for
// each operation, and never create it.
func FileGrants(cfg *config.Config, o Options) Grants { return fileGrants{cfg, o} }

type fileGrants struct {
	cfg     *config.Config
	options Options
}

// List implements [Grants].
func (g fileGrants) List(ctx context.Context) (all []Grant, err error) {
	if _, exists := StoreFile(g.cfg); !exists {
		return nil, nil
	}
	err = withStore(ctx, g.cfg, "list", func(s *store.Store) error {
		all, err = grantdb.New(s, nil).List(ctx)
		return err
	})
	return all, err
}

// Revoke implements [Grants].
func (g fileGrants) Revoke(ctx context.Context, id string) (was Grant, err error) {
	if _, exists := StoreFile(g.cfg); !exists {
		return Grant{}, grant.NotFound(id)
	}
	err = withStore(ctx, g.cfg, "revoke", func(s *store.Store) error {
		was, err = revoke(ctx, grantdb.New(s, nil), id, func(ctx context.Context, rec tool.Record) error {
			opts := auditOptions(g.cfg, g.options)
			log, err := audit.Open(g.cfg.Audit.Dir, &opts)
			if err != nil {
				return err
			}
			return errors.Join(log.AppendSync(ctx, rec), log.Close())
		})
		return err
	})
	return was, err
}
