package gate

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"collie/internal/pipeline/gate/grant"
	"collie/internal/tool"
)

// touchesOf returns everything that c touches, with its place; nil unless all of it is known.
func (s *Stage) touchesOf(c *tool.Call, plan tool.Plan) []tool.Touch {
	if _, binds := c.Source.(tool.Binder); binds {
		return plan.Touches
	}
	return s.touches(c)
}

// useGrant uses the first grant that covers the call and returns its id; empty if there is none.
func (s *Stage) useGrant(ctx context.Context, a *grant.Asked) string {
	c := a.Call
	store, err := s.grants(ctx)
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "grants cannot be read, so a person is asked", slog.String("tool", c.Subject()), slog.Any("error", err))
		return ""
	}
	all, err := store.Find(ctx, c.Source.Name(), c.Tool, c.Action.Name)
	for i := range all {
		if err != nil || !all[i].Covers(a) {
			continue
		}
		var used bool
		if used, err = store.Use(ctx, all[i].ID); used && err == nil { // not revoked in this moment
			return all[i].ID
		}
	}
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "grants cannot be read, so a person is asked", slog.String("tool", c.Subject()), slog.Any("error", err))
	}
	return ""
}

// offers returns the grants that a person is offered; none if no grant could cover the call, which is then nil.
func (s *Stage) offers(a *grant.Asked) []grant.Grant {
	if a == nil || a.Call.Caller == nil || !a.Call.Caller.Supports(tool.CanConfirm) {
		return nil
	}
	return grant.Offers(a, time.Now())
}

// storeChosen keeps the offered grant that the person chose. It reports false if that failed: the person agreed to the call as
// well, so it may run.
func (s *Stage) storeChosen(ctx context.Context, a *grant.Asked, offers []grant.Grant, id string) bool {
	given := offers[slices.IndexFunc(offers, func(g grant.Grant) bool { return g.ID == id })]
	given.Uses, given.Used = 1, time.Now().UTC().Truncate(time.Millisecond)
	store, err := s.grants(ctx)
	if err == nil {
		err = store.Add(ctx, &given)
	}
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "a grant was not kept, so it holds for one call", slog.String("tool", a.Call.Subject()), slog.Any("error", err))
		return false
	}
	s.given(a.Call, &given)
	return true
}
