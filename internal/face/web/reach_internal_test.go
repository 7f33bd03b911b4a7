package web

import (
	"context"
	"errors"
	"os"
	"testing"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/store"
)

// An event whose session cannot be read for a moment is hidden; those after it are seen again, and hidden where the session
// belongs to another profile.
func TestReachAfterAFailedRead(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), t.TempDir(), chat.Schema())
	if err != nil {
		t.Fatal(err)
	}
	service, err := chat.Open(t.Context(), s, chat.Options{Engine: func(context.Context, chat.Config, []llm.Part) (string, chat.Engine, error) {
		return "", nil, os.ErrInvalid
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(service.Close(context.Background()), s.Close()); err != nil {
			t.Error(err)
		}
	})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for profile, sees := range map[string]bool{"family": true, "work": false} {
		made, err := service.Create(t.Context(), chat.NewSession{Config: chat.Config{Profile: profile}})
		if err != nil {
			t.Fatal(err)
		}
		family := "family"
		c := reach{service: service, only: &family, known: map[string]bool{}}
		e := &chat.Event{Session: made.ID}
		for _, step := range []struct {
			ctx  context.Context
			want bool
		}{{canceled, false}, {t.Context(), sees}, {canceled, sees}} { // the last from the cache
			if got := c.maySee(step.ctx, e); got != step.want {
				t.Errorf("profile %s, read cut off %v: seen %v, want %v", profile, step.ctx.Err() != nil, got, step.want)
			}
		}
	}
}
