package resolve_test

import (
	"context"
	"errors"
	"testing"

	"collie/internal/pipeline/resolve"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

type resolver func(*tool.Call) error

func (f resolver) Resolve(_ context.Context, c *tool.Call) error { return f(c) }

// A call that resolves goes on to its source.
func TestDo(t *testing.T) {
	t.Parallel()
	fake := tooltest.NewFake("srv", tooltest.Offer("srv", tooltest.Action("x")))
	s := resolve.New(resolver(func(c *tool.Call) error {
		c.Source, c.Target = fake, "x"
		return nil
	}))
	r, err := s.Do(t.Context(), &tool.Call{Kind: tool.KindCall, Name: "srv__x", Args: []byte("{}")}, runSource)
	if err != nil || len(fake.Calls()) != 1 || len(r.Raw) == 0 {
		t.Errorf("%s %v, %d calls", r.Raw, err, len(fake.Calls()))
	}
}

// One that does not resolve travels on, so that it leaves its records, and meets a source
// that refuses it, even where the resolver had found something already.
func TestDoTravelsOn(t *testing.T) {
	t.Parallel()
	fake := tooltest.NewFake("srv", tooltest.Offer("srv"))
	unknown := &tool.Error{Kind: tool.Unknown}
	s := resolve.New(resolver(func(c *tool.Call) error {
		c.Source, c.Tool, c.Action = fake, "srv", &tool.Action{Name: "x"}
		return unknown
	}))
	travelled := false
	_, err := s.Do(t.Context(), &tool.Call{Name: "nothing"}, func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		travelled = true
		if c.Source == nil || c.Source.Offer() == nil || c.Action != nil || c.Tool != "srv" {
			t.Errorf("call on its way: %+v", c)
		}
		c.Source.Watch(nil)()
		return runSource(ctx, c)
	})
	if !travelled || !errors.Is(err, unknown) || len(fake.Calls()) > 0 {
		t.Errorf("travelled %t, error %v, %d calls", travelled, err, len(fake.Calls()))
	}
}

func runSource(ctx context.Context, c *tool.Call) (tool.Result, error) { return c.Source.Run(ctx, c) }
