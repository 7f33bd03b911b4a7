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

// countingBinder is a source that counts how often the targets of its calls are looked up.
type countingBinder struct {
	*tooltest.Fake
	lookups int
}

func (b *countingBinder) Bind(context.Context, *tool.Call) (tool.Bound, error) {
	b.lookups++
	return nil, errors.New("nothing is there")
}

// A call that the fixed rules deny is refused before its targets are looked up and before a second model or a person is asked. A
// harmless call reaches the lookup and the second model.
func TestDeniedCallsAreLookedAtByNobody(t *testing.T) {
	t.Parallel()
	src := &countingBinder{Fake: tooltest.NewFake("shell", tooltest.Offer("shell", tooltest.Action("run", `"properties":{"command":{"type":"string"}}`)))}
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
	who := &countingPerson{yes: true}
	try := func(command string, origin tool.Origin) error {
		c := newRequest("shell__run", `{"command":"`+command+`"}`)
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
	if n := len(src.Calls()); n > 0 || src.lookups > 0 || reviews > 0 || who.asked > 0 {
		t.Errorf("denied calls: %d ran, targets looked up %d times, %d reviews, %d questions", n, src.lookups, reviews, who.asked)
	}
	if _ = try("make deploy", tool.Chat); src.lookups == 0 || reviews == 0 {
		t.Errorf("a harmless call: targets looked up %d times, %d reviews", src.lookups, reviews)
	}
}

// A text that holds a list passes where the schema wants a list, so what it holds is judged.
func TestDeniedWithinTexts(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	fetch := tooltest.Action("fetch_many", `"properties":{"urls":{"type":"array","items":{"type":"string"}}}`)
	fetch.ReadOnly = true
	r.fake.Publish(tooltest.Offer("srv", fetch))
	for args, kind := range map[string]tool.ErrorKind{
		`{"urls":["http://169.254.169.254/latest/meta-data/"]}`:     tool.Denied,
		`{"urls":"[\"http://169.254.169.254/latest/meta-data/\"]"}`: tool.Denied,
		`{"urls":"[\"https://example.org/\"]"}`:                     "",
	} {
		c := newRequest("srv__fetch_many", args)
		c.Origin, c.Principal, c.Session = tool.Chat, "p", "s"
		if _, err := r.Do(t.Context(), c); (err == nil) != (kind == "") || err != nil && tool.KindOf(err) != kind {
			t.Errorf("%s: %v, want %q", args, err, kind)
		}
	}
}
