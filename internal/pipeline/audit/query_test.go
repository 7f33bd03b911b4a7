package audit_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/pipeline/audit"
	"collie/internal/tool"
)

var epoch = time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC)

// Reading page by page, newest first, leaves nothing out and repeats nothing, even if several records have the same time.
func TestQueryPageByPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var logs [3]*audit.Log
	for i := range logs {
		logs[i] = open(t, dir, nil)
	}
	for i := range 30 {
		r := record(i)
		r.Time = epoch.Add(time.Duration(i/10) * time.Second)
		if err := logs[i%3].AppendSync(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for f := (audit.Filter{Kind: "call", Limit: 7}); ; {
		page := query(t, dir, f)
		if len(page) == 0 {
			break
		}
		got = append(ids(page), got...)
		mark, err := audit.ParseMark(page[0].Mark().String())
		if err != nil {
			t.Fatal(err)
		}
		f.Before = mark
	}
	slices.Sort(got)
	want := span(0, 30, 1)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []string{"x", "2026-07-28T00:00:00.000000Z,c", "yesterday,c,1", "2026-07-28T00:00:00.000000Z,c,-1"} {
		if m, err := audit.ParseMark(wrong); err == nil {
			t.Errorf("%q is %v", wrong, m)
		}
	}
}

// three makes three chains whose records alternate in time: c0, c1, … c29.
func three(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var logs [3]*audit.Log
	for i := range logs {
		logs[i] = open(t, dir, nil)
	}
	for i := range 30 {
		r := record(i)
		r.Time = epoch.Add(time.Duration(i) * time.Second)
		if i%2 == 1 {
			r.Kind, r.Outcome, r.Args = "call.result", tool.OK, nil
		}
		if i%10 == 0 {
			r.Tool, r.Session = "block", audit.SessionDigest("session")
		}
		if err := logs[i%3].AppendSync(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func ids(entries []audit.Entry) []string {
	var out []string
	for _, e := range entries {
		if e.CallID != "" {
			out = append(out, e.CallID)
		}
	}
	return out
}

func span(from, to, step int) []string {
	var out []string
	for i := from; i < to; i += step {
		out = append(out, fmt.Sprintf("c%d", i))
	}
	return out
}

func TestQuery(t *testing.T) {
	t.Parallel()
	dir := three(t)
	tests := map[string]struct {
		filter audit.Filter
		want   []string
	}{
		"calls":   {audit.Filter{Kind: "call"}, span(0, 30, 1)},
		"starts":  {audit.Filter{Kind: "call.start"}, span(0, 30, 2)},
		"times":   {audit.Filter{Since: epoch.Add(5 * time.Second), Until: epoch.Add(9 * time.Second)}, span(5, 9, 1)},
		"tool":    {audit.Filter{Tool: "block"}, span(0, 30, 10)},
		"session": {audit.Filter{Session: "session"}, span(0, 30, 10)},
		"digest":  {audit.Filter{Session: audit.SessionDigest("session")}, span(0, 30, 10)},
		"outcome": {audit.Filter{Outcome: "ok"}, span(1, 30, 2)},
		"call":    {audit.Filter{CallID: "c7"}, []string{"c7"}},
		"text":    {audit.Filter{Text: `"N":8`}, []string{"c8"}},
		"newest":  {audit.Filter{Kind: "call", Limit: 4}, span(26, 30, 1)},
		"none":    {audit.Filter{Action: "no"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ids(query(t, dir, tt.filter))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestQueryStopsEarly(t *testing.T) {
	t.Parallel()
	for _, err := range audit.Query(t.Context(), three(t), audit.Filter{Kind: "call"}) {
		if err != nil {
			t.Fatal(err)
		}
		break // must not panic
	}
}

func TestTailFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := open(t, dir, nil)
	for i := range 5 {
		_ = old.AppendSync(t.Context(), record(i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var got []string
	for e, err := range audit.Tail(ctx, dir, 2, true) {
		if err != nil {
			t.Fatal(err)
		}
		if e.CallID == "" {
			continue
		}
		got = append(got, e.CallID)
		switch len(got) {
		case 2:
			_ = old.AppendSync(t.Context(), record(5))
		case 3: // a chain that did not exist before
			_ = open(t, dir, nil).AppendSync(t.Context(), record(6))
		case 4:
			cancel()
		}
	}
	if diff := cmp.Diff(span(3, 7, 1), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTailWithoutFollow(t *testing.T) {
	t.Parallel()
	n := 0
	for _, err := range audit.Tail(t.Context(), three(t), 5, false) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("%d records, want 5", n)
	}
}
