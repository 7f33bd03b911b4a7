package pipeline_test

import (
	"context"
	"errors"
	"testing"

	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/guardian"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// binding is a source that counts how often the targets of its calls are looked up.
type binding struct {
	*tooltest.Fake
	looked int
}

func (b *binding) Bind(context.Context, *tool.Call) (tool.Bound, error) {
	b.looked++
	return nil, errors.New("nothing is there")
}

// A call that the fixed rules deny is refused before its targets are looked up and before a second model or a person is asked,
// unless the call comes from a person.
func TestDeniedCallsAreLookedAtByNobody(t *testing.T) {
	t.Parallel()
	src := &binding{Fake: tooltest.NewFake("shell", tooltest.Offer("shell", tooltest.Action("run", `"properties":{"command":{"type":"string"}}`)))}
	log, err := audit.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	catalog := source.New([]tool.Source{src}, source.Options{})
	t.Cleanup(catalog.Close)
	reviews := 0
	second := guardian.New(guardian.Options{Open: func(context.Context, string) (guardian.Reviewer, error) {
		reviews++
		return guardian.Reviewer{}, errors.New("no model")
	}})
	second.Use(guardian.Settings{Mode: guardian.Enforce, Clients: true})
	p := pipeline.New(catalog, pipeline.Options{Audit: log, Guardian: second})
	who := &terminal{yes: true}
	try := func(command string, origin tool.Origin) error {
		c := call("shell__run", `{"command":"`+command+`"}`)
		c.Origin, c.Caller = origin, who
		_, err := p.Do(t.Context(), c)
		return err
	}
	for _, origin := range []tool.Origin{tool.Chat, tool.CLIAgent, tool.Scheduled} {
		e, ok := errors.AsType[*tool.Error](try("rm -rf /", origin))
		if !ok || e.Kind != tool.Denied || e.Decision == nil || e.Decision.Stage != "firewall" {
			t.Errorf("%s: %v", origin, e)
		}
	}
	if n := len(src.Calls()); n > 0 || src.looked > 0 || reviews > 0 || who.asked > 0 {
		t.Errorf("denied calls: %d ran, targets looked up %d times, %d reviews, %d questions", n, src.looked, reviews, who.asked)
	}
	if _ = try("make deploy", tool.Chat); src.looked == 0 || reviews == 0 {
		t.Errorf("another call: targets looked up %d times, %d reviews", src.looked, reviews)
	}
}
