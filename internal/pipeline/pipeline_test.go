package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/event"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/limit"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// fixture is a pipeline over a real catalog and a real audit log.
type fixture struct {
	*pipeline.Pipeline
	fake *tooltest.Fake
	bus  *event.Bus[tool.CallDone]
	log  *audit.Log
	said bytes.Buffer // the pipeline's log
	dir  string
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	off := tooltest.Action("off", `"required":["n"]`)
	off.Off = "because"
	offer := tooltest.Offer("srv",
		tooltest.Action("echo", `"properties":{"n":{"type":"integer"}},"required":["n"]`),
		tooltest.Action("fail"), tooltest.Action("panic"), tooltest.Action("hang"), off)
	offer.Resources = []tool.Resource{tooltest.Resource("srv://a")}
	offer.Prompts = []tool.Prompt{tooltest.Prompt("greet")}
	r := &fixture{fake: tooltest.NewFake("srv", offer), bus: &event.Bus[tool.CallDone]{}, dir: tb.TempDir()}
	r.fake.On("panic", func(context.Context, *tool.Call) (tool.Result, error) { panic("secret of the source") })
	r.fake.On("fail", func(context.Context, *tool.Call) (tool.Result, error) { return tooltest.Failed("no"), nil })
	r.fake.Hang("hang")
	var err error
	if r.log, err = audit.Open(r.dir, nil); err != nil {
		tb.Fatal(err)
	}
	catalog := source.New([]tool.Source{r.fake}, source.Options{})
	tb.Cleanup(catalog.Close)
	tb.Cleanup(func() { _ = r.log.Close() }) // closeAndRead may have closed it
	r.Pipeline = pipeline.New(catalog, pipeline.Options{
		Audit: r.log, Bus: r.bus, Limits: limit.Options{MaxArgs: 1 << 10, MaxCall: 3 * time.Minute, PerSession: 1},
		Logger: slog.New(slog.NewTextHandler(&r.said, nil)),
	})
	return r
}

// closeAndRead closes the audit log and returns its records as "kind outcome type source tool action name",
// without empty fields. Both records of a pair must have the same call id.
func (r *fixture) closeAndRead(tb testing.TB) []string {
	tb.Helper()
	if err := r.log.Close(); err != nil {
		tb.Fatal(err)
	}
	var out []string
	open := map[string]string{}
	for e, err := range audit.Query(context.Background(), r.dir, audit.Filter{}) {
		if err != nil {
			tb.Fatal(err)
		}
		if strings.HasPrefix(e.Kind, "chain.") {
			continue
		}
		kind, end, _ := strings.Cut(e.Kind, ".")
		switch {
		case end == "start":
			open[e.CallID] = kind
		case open[e.CallID] == "" || open[e.CallID] != kind && kind != "decision":
			tb.Errorf("%s of call %q has no start", e.Kind, e.CallID)
		case kind != "decision": // a decision comes between start and result
			delete(open, e.CallID)
		}
		out = append(out, strings.Join(strings.Fields(strings.Join([]string{e.Kind, e.Outcome, e.ErrorType, e.Source, e.Tool, e.Action, e.Name}, " ")), " "))
	}
	if len(open) > 0 {
		tb.Errorf("not closed: %v", open)
	}
	return out
}

func newRequest(name, args string) tool.Request {
	return tool.Request{Kind: tool.KindCall, Name: name, Args: json.RawMessage(args), Origin: tool.Direct}
}

// Each kind of call passes through the pipeline, is answered, and leaves one pair of records of its kind.
func TestEachKindLeavesItsPair(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	for _, c := range []tool.Request{
		newRequest("srv__echo", `{"n":1}`),
		{Kind: tool.KindRead, Name: "srv://a", Args: json.RawMessage("{}")},
		{Kind: tool.KindPrompt, Name: "srv__greet", Args: json.RawMessage("{}")},
		{Kind: tool.KindComplete, Name: "srv__greet", Params: json.RawMessage(`{"ref":{"type":"ref/prompt","name":"srv__greet"}}`), Args: json.RawMessage("{}")},
	} {
		res, err := r.Do(t.Context(), c)
		if ran := r.fake.Calls(); err != nil || res.IsError || len(res.Raw) == 0 || ran[len(ran)-1].ID == "" {
			t.Errorf("%s %s: %s %v, ran as %+v", c.Kind, c.Name, res.Raw, err, ran)
		}
	}
	wantRecords(t, r,
		"call.start srv srv echo srv__echo", "call.result ok srv srv echo srv__echo",
		"read.start srv srv srv://a", "read.result ok srv srv srv://a",
		"prompt.start srv srv srv__greet", "prompt.result ok srv srv srv__greet",
		"complete.start srv srv srv__greet", "complete.result ok srv srv srv__greet",
	)
}

func wantRecords(t *testing.T, r *fixture, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.closeAndRead(t)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// A call that several stages would refuse is refused by the first of them, is recorded, and reaches nothing
// behind it.
func TestStageOrder(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	done := r.bus.Subscribe(16)
	defer done.Close()
	long := `{"text":"` + strings.Repeat("x", 2<<10) + `"}`
	for _, tt := range []struct {
		what string
		call tool.Request
		kind tool.ErrorKind
		text string
	}{
		{"resolve before limit", newRequest("srv__none", long), tool.Invalid, "bytes, the limit is"}, // an unresolved call reaches limit too
		{"resolve", newRequest("srv__none", "{}"), tool.NotFound, "unknown tool"},
		{"limit before switches", newRequest("srv__off", long), tool.Invalid, "bytes, the limit is"},
		{"switches before validate", newRequest("srv__off", `{}`), tool.Disabled, "switched off"},
		{"validate before run", newRequest("srv__echo", `{"n":"x"}`), tool.Invalid, "n"},
	} {
		_, err := r.Do(t.Context(), tt.call)
		if tool.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %s with %q", tt.what, err, tt.kind, tt.text)
		}
		if ev := <-done.C(); ev.Outcome != tool.Refused || !errors.Is(ev.Err, err) {
			t.Errorf("%s: event %s %v", tt.what, ev.Outcome, ev.Err)
		}
	}
	if calls := r.fake.Calls(); len(calls) > 0 {
		t.Errorf("refused calls reached the source: %+v", calls)
	}
	wantRecords(t, r,
		"call.start srv__none", "call.result refused validation_error srv__none",
		"call.start srv__none", "call.result refused not_found srv__none",
		"call.start srv srv off srv__off", "call.result refused validation_error srv srv off srv__off",
		"call.start srv srv off srv__off", "call.result refused disabled_error srv srv off srv__off",
		"call.start srv srv echo srv__echo", "call.result refused validation_error srv srv echo srv__echo",
	)
}

// The documented lists of stages match the stages that calls pass through.
func TestStagesAreWrittenDown(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	var stages []string
	c := newRequest("srv__echo", `{"n":1}`)
	c.Trace = func(kind, what string, _ time.Duration) {
		if kind == tool.TraceStage {
			stages = append(stages, what)
		}
	}
	if _, err := r.Do(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(stages) // they are reported from the last to the first
	for _, file := range []string{"pipeline.go", "../../docs/architecture.md"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list := regexp.MustCompile(`(?s)resolve →.*?→ run`).FindString(string(raw))
		written := []string{"resolve"}
		for _, m := range regexp.MustCompile(`→ ([a-z]+)`).FindAllStringSubmatch(list, -1) {
			written = append(written, m[1])
		}
		if diff := cmp.Diff(stages, written); diff != "" {
			t.Errorf("the list of stages in %s, a chain of arrows from resolve to run, is not that of pipeline.New (-New +list):\n%s", file, diff)
		}
	}
}

// An unknown name gets an error with the nearest name, and is recorded.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	for _, c := range []tool.Request{
		newRequest("srv__ecko", "{}"),
		{Kind: tool.KindRead, Name: "srv://b"},
		{Kind: tool.KindPrompt, Name: "srv__great"},
		{Kind: tool.KindComplete, Name: "srv__great", Params: json.RawMessage(`{"ref":{"type":"ref/prompt"}}`)},
	} {
		_, err := r.Do(t.Context(), c)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Kind != tool.NotFound || !strings.Contains(e.Hint, "did you mean") {
			t.Errorf("%s %s: %v, want not_found with the nearest name", c.Kind, c.Name, err)
		}
	}
	wantRecords(t, r,
		"call.start srv__ecko", "call.result refused not_found srv__ecko",
		"read.start srv://b", "read.result refused not_found srv://b",
		"prompt.start srv__great", "prompt.result refused not_found srv__great",
		"complete.start srv__great", "complete.result refused not_found srv__great",
	)
}

// A panic of a source fails one call, whose pair of records is complete; the next call runs.
func TestPanicOfASource(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	done := r.bus.Subscribe(1)
	defer done.Close()
	_, err := r.Do(t.Context(), newRequest("srv__panic", "{}"))
	if tool.KindOf(err) != tool.Internal || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v, want internal_error without what the panic said", err)
	}
	for _, want := range []string{"level=ERROR", "secret of the source", "pipeline_test.go", "call_id="} {
		if !strings.Contains(r.said.String(), want) {
			t.Errorf("log misses %q:\n%s", want, r.said.String())
		}
	}
	if ev := <-done.C(); ev.Outcome != tool.NotKnown {
		t.Errorf("event: %s, want unknown: it may have taken effect", ev.Outcome)
	}
	if _, err := r.Do(t.Context(), newRequest("srv__echo", `{"n":1}`)); err != nil {
		t.Errorf("the next call: %v", err)
	}
	wantRecords(t, r,
		"call.start srv srv panic srv__panic", "call.result unknown internal_error srv srv panic srv__panic",
		"call.start srv srv echo srv__echo", "call.result ok srv srv echo srv__echo",
	)
}

// A panic in a Source's Adapt function fails only that call.
func TestPanicOfAnAdapter(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	offer := *r.fake.Offer()
	offer.Tools = slices.Clone(offer.Tools)
	offer.Tools[0].Actions = slices.Clone(offer.Tools[0].Actions)
	for i := range offer.Tools[0].Actions {
		offer.Tools[0].Actions[i].Adapt = func(json.RawMessage, string) json.RawMessage { panic("secret of the source") }
	}
	r.fake.Publish(offer)
	_, err := r.Do(t.Context(), newRequest("srv__echo", `{"n":1}`))
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.Internal || e.OutcomeUnknown || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v, want internal_error of a call that has not run, without what the panic said", err)
	}
	if !strings.Contains(r.said.String(), "secret of the source") {
		t.Errorf("the log does not say it:\n%s", r.said.String())
	}
	wantRecords(t, r, "call.start srv__echo", "call.result error internal_error srv__echo")
}

// A call whose goroutine exits has its pair of records too.
func TestExitOfAGoroutine(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.fake.On("echo", func(context.Context, *tool.Call) (tool.Result, error) {
		runtime.Goexit()
		return tool.Result{}, nil
	})
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = r.Do(t.Context(), newRequest("srv__echo", `{"n":1}`))
	}()
	<-over
	wantRecords(t, r, "call.start srv srv echo srv__echo", "call.result unknown internal_error srv srv echo srv__echo")
}

// The outcome of a call is recorded: a failure of the action, a cancellation, a limit.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	if res, err := r.Do(t.Context(), newRequest("srv__fail", "{}")); err != nil || !res.IsError {
		t.Errorf("fail: %s %v", res.Raw, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := r.Do(ctx, newRequest("srv__hang", "{}")); tool.KindOf(err) != tool.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := r.Do(ctx, newRequest("srv__hang", "{}")); tool.KindOf(err) != tool.Timeout {
		t.Errorf("the caller's deadline: %v", err)
	}
	wantRecords(t, r,
		"call.start srv srv fail srv__fail", "call.result error srv srv fail srv__fail",
		"call.start srv srv hang srv__hang", "call.result cancelled cancelled srv srv hang srv__hang",
		"call.start srv srv hang srv__hang", "call.result error timeout srv srv hang srv__hang",
	)
}

// A grouped tool whose actions are all off is refused as switched off, whatever is asked of it.
func TestNothingOfAToolIsOn(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	offer := *r.fake.Offer()
	tl := offer.Tools[0]
	tl.View, tl.Actions = tool.Grouped, slices.Clone(tl.Actions)
	for i := range tl.Actions {
		tl.Actions[i].Off = "off here"
	}
	offer.Tools = []tool.Tool{tl}
	r.fake.Publish(offer)
	for _, args := range []string{`{"action":"echo"}`, `{"action":"help"}`, `{"action":"eco"}`, `{}`} {
		if _, err := r.Do(t.Context(), newRequest("srv", args)); tool.KindOf(err) != tool.Disabled {
			t.Errorf("%s: %v, want an error of kind %s", args, err, tool.Disabled)
		}
	}
	wantRecords(t, r,
		"call.start srv srv echo srv", "call.result refused disabled_error srv srv echo srv",
		"call.start srv srv srv", "call.result refused disabled_error srv srv srv",
		"call.start srv srv srv", "call.result refused disabled_error srv srv srv",
		"call.start srv srv srv", "call.result refused disabled_error srv srv srv",
	)
	raw, _ := r.List(t.Context(), tool.ListTools, "")
	if string(raw) != `{"tools":[]}` {
		t.Errorf("listed: %s", raw)
	}
}

// A call of a grouped tool is recorded as a call of its action.
func TestGroupedCallOnRecord(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	offer := *r.fake.Offer()
	tl := offer.Tools[0]
	tl.View = tool.Grouped
	offer.Tools = []tool.Tool{tl}
	r.fake.Publish(offer)
	for _, args := range []string{`{"action":"echo","n":1}`, `{"action":"off"}`, `{"action":"help"}`, `{"action":"eco"}`} {
		_, _ = r.Do(t.Context(), newRequest("srv", args)) // the records show the outcome
	}
	wantRecords(t, r,
		"call.start srv srv echo srv", "call.result ok srv srv echo srv",
		"call.start srv srv off srv", "call.result refused disabled_error srv srv off srv",
		"call.start collie srv srv", "call.result ok collie srv srv",
		"call.start srv srv", "call.result refused validation_error srv srv",
	)
}
