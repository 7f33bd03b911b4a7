package pipeline_test

import (
	"context"
	"testing"

	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// outdatedSource is a source whose offer is out of date.
type outdatedSource struct {
	*tooltest.Fake
	today *tool.Action // the current action; nil if it is gone
	asked int
}

func (s *outdatedSource) Current(context.Context, *tool.Call) (*tool.Action, error) {
	s.asked++
	if s.today == nil {
		return nil, &tool.Error{Op: "call", Kind: tool.Removed, Message: "gone"}
	}
	return s.today, nil
}

// The stages judge a call by its source's current definition, even if the catalog still has an older one.
func TestCallsAreJudgedByTheDefinitionOfToday(t *testing.T) {
	t.Parallel()
	action := func(schema string) *tool.Action {
		a := tooltest.Action("echo", schema)
		return &a
	}
	off := action("")
	off.Off = "withheld"
	text, number := `"properties":{"n":{"type":"string"}}`, `"properties":{"n":{"type":"integer"}}`
	for name, tt := range map[string]struct {
		yesterday, today *tool.Action
		want             tool.ErrorKind // empty: the call runs
		asked, runs      int
	}{
		"fits today only":    {yesterday: action(text), today: action(number), asked: 1, runs: 1},
		"fitted yesterday":   {yesterday: action(number), today: action(text), want: tool.Invalid, asked: 1},
		"switched off today": {yesterday: action(number), today: off, want: tool.Disabled, asked: 1},
		"gone":               {yesterday: action(number), want: tool.Removed, asked: 1},
		"off, and on today":  {yesterday: off, today: action(number), asked: 1, runs: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, err := audit.Open(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			src := &outdatedSource{Fake: tooltest.NewFake("srv", tooltest.Offer("srv", *tt.yesterday)), today: tt.today}
			catalog := source.New([]tool.Source{src}, source.Options{})
			defer catalog.Close()
			_, err = pipeline.New(catalog, pipeline.Options{Audit: log}).Do(t.Context(), tool.Request{
				Kind: tool.KindCall, Name: "srv__echo", Args: []byte(`{"n":1}`), Origin: tool.Direct,
			})
			if tt.want == "" && err != nil || tt.want != "" && tool.KindOf(err) != tt.want {
				t.Errorf("got %v, want kind %q", err, tt.want)
			}
			if src.asked != tt.asked || len(src.Calls()) != tt.runs {
				t.Errorf("asked %d times, ran %d times; want %d and %d", src.asked, len(src.Calls()), tt.asked, tt.runs)
			}
		})
	}
}
