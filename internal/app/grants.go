package app

import (
	"context"

	"collie/internal/pipeline/gate/grant"
	"collie/internal/pipeline/gate/grant/grantdb"
)

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
