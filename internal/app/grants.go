package app

import (
	"context"
	"errors"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate/grant"
	grantadmin "collie/internal/pipeline/gate/grant/admin"
	"collie/internal/pipeline/gate/grant/grantdb"
	"collie/internal/store"
	"collie/internal/tool"
)

// This file gives the gate and people access to the grants, which are in the database of the agent host.

// grants returns the store of grants for the gate. It opens the agent host if that is not open yet.
func (a *App) grants(ctx context.Context) (grant.Store, error) {
	h := a.host.now.Load()
	if h == nil {
		var err error
		if h, err = a.openHost(ctx); err != nil {
			return nil, err
		}
	}
	return grantdb.New(h.Store, nil), nil
}

// Grants returns access to the grants in the database of a.
func (a *App) Grants() grantadmin.Grants {
	return grantadmin.Grants{Record: a.Audit.AppendSync, Use: func(ctx context.Context, _ string, do func(grant.Store) error) error {
		if _, exists := StoreFile(a.settings()); !exists && a.host.now.Load() == nil {
			return nil
		}
		s, err := a.grants(ctx)
		if err != nil {
			return err
		}
		return do(s)
	}}
}

// FileGrants returns access to the grants of the home that cfg belongs to, for commands that run without a gateway. It
// opens the database for each operation and never creates it.
func FileGrants(cfg *config.Config, o Options) grantadmin.Grants {
	return grantadmin.Grants{
		Use: func(ctx context.Context, op string, do func(grant.Store) error) error {
			if _, exists := StoreFile(cfg); !exists {
				return nil
			}
			return withStore(ctx, cfg, op, func(s *store.Store) error { return do(grantdb.New(s, nil)) })
		},
		Record: func(ctx context.Context, rec tool.Record) error {
			opts := auditOptions(cfg, o)
			log, err := audit.Open(cfg.Audit.Dir, &opts)
			if err != nil {
				return err
			}
			return errors.Join(log.AppendSync(ctx, rec), log.Close())
		},
	}
}
