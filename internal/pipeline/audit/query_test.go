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
		logs[i] = openLog(t, dir, nil)
	}
	for i := range 30 {
		r := newRecord(i)
		r.Time = epoch.Add(time.Duration(i/10) * time.Second)
		if err := logs[i%3].AppendSync(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for f := (audit.Filter{Kind: "call", Limit: 7}); ; {
		page := queryAll(t, dir, f)
		if len(page) == 0 {
			break
		}
		got = append(callIDs(page), got...)
		mark, err := audit.ParseMark(page[0].Mark().String())
		if err != nil {
			t.Fatal(err)
		}
		f.Before = mark
	}
	slices.Sort(got)
	want := idsInRange(0, 30, 1)
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

// writeThreeChains makes three chains whose records alternate in time: c0, c1, … c29.
func writeThreeChains(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var logs [3]*audit.Log
	for i := range logs {
		logs[i] = openLog(t, dir, nil)
	}
	for i := range 30 {
		r := newRecord(i)
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

func callIDs(entries []audit.Entry) []string {
	var out []string
	for _, e := range entries {
		if e.CallID != "" {
			out = append(out, e.CallID)
		}
	}
	return out
}

func idsInRange(from, to, step int) []string {
	var out []string
	for i := from; i < to; i += step {
		out = append(out, fmt.Sprintf("c%d", i))
	}
	return out
}

func TestQuery(t *testing.T) {
	t.Parallel()
	dir := writeThreeChains(t)
	tests := map[string]struct {
		filter audit.Filter
		want   []string
	}{
		"calls":   {filter: audit.Filter{Kind: "call"}, want: idsInRange(0, 30, 1)},
		"starts":  {filter: audit.Filter{Kind: "call.start"}, want: idsInRange(0, 30, 2)},
		"times":   {filter: audit.Filter{Since: epoch.Add(5 * time.Second), Until: epoch.Add(9 * time.Second)}, want: idsInRange(5, 9, 1)},
		"tool":    {filter: audit.Filter{Tool: "block"}, want: idsInRange(0, 30, 10)},
		"session": {filter: audit.Filter{Session: "session"}, want: idsInRange(0, 30, 10)},
		"digest":  {filter: audit.Filter{Session: audit.SessionDigest("session")}, want: idsInRange(0, 30, 10)},
		"outcome": {filter: audit.Filter{Outcome: "ok"}, want: idsInRange(1, 30, 2)},
		"call":    {filter: audit.Filter{CallID: "c7"}, want: []string{"c7"}},
		"text":    {filter: audit.Filter{Text: `"N":8`}, want: []string{"c8"}},
		"newest":  {filter: audit.Filter{Kind: "call", Limit: 4}, want: idsInRange(26, 30, 1)},
		"none":    {filter: audit.Filter{Action: "no"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, callIDs(queryAll(t, dir, tt.filter))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestQueryStopsEarly(t *testing.T) {
	t.Parallel()
	for _, err := range audit.Query(t.Context(), writeThreeChains(t), audit.Filter{Kind: "call"}) {
		if err != nil {
			t.Fatal(err)
		}
		break // must not panic
	}
}

func TestTailFollows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := openLog(t, dir, nil)
	for i := range 5 {
		_ = old.AppendSync(t.Context(), newRecord(i))
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
			_ = old.AppendSync(t.Context(), newRecord(5))
		case 3: // a chain that did not exist before
			_ = openLog(t, dir, nil).AppendSync(t.Context(), newRecord(6))
		case 4:
			cancel()
		}
	}
	if diff := cmp.Diff(idsInRange(3, 7, 1), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTailWithoutFollow(t *testing.T) {
	t.Parallel()
	n := 0
	for _, err := range audit.Tail(t.Context(), writeThreeChains(t), 5, false) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("%d records, want 5", n)
	}
}
