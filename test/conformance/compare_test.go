package conformance_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/test/conformance"
)

func passed(name string, checks int) conformance.Outcome {
	return conformance.Outcome{Scenario: name, Passed: checks, Mark: true}
}

func failed(name string, checks int) conformance.Outcome {
	return conformance.Outcome{Scenario: name, Passed: checks, Failed: 1}
}

func TestLost(t *testing.T) {
	t.Parallel()
	type outcomes = []conformance.Outcome
	tests := []struct {
		name          string
		alone, behind outcomes
		want          []string
	}{
		{name: "kept", alone: outcomes{passed("a", 2)}, behind: outcomes{passed("a", 1)}},
		{name: "failed before", alone: outcomes{failed("a", 1)}, behind: outcomes{failed("a", 0)}},
		{name: "no checks in either", alone: outcomes{passed("a", 0)}, behind: outcomes{passed("a", 0)}},
		{name: "more behind", alone: outcomes{failed("a", 1)}, behind: outcomes{passed("a", 2)}},
		{name: "fails", alone: outcomes{passed("a", 2)}, behind: outcomes{failed("a", 1)}, want: []string{"a"}},
		{name: "all checks skipped", alone: outcomes{passed("a", 2)}, behind: outcomes{passed("a", 0)}, want: []string{"a"}},
		{name: "not run", alone: outcomes{passed("a", 2), passed("b", 1)}, behind: outcomes{passed("b", 1)}, want: []string{"a"}},
		{name: "marked as failed", alone: outcomes{passed("a", 2)}, behind: outcomes{{Scenario: "a", Passed: 2}}, want: []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, conformance.Lost(tt.alone, tt.behind)); diff != "" {
				t.Errorf("lost differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnion(t *testing.T) {
	t.Parallel()
	stateless, sessions := parsePrinted(t, "2026-07-28.txt"), parsePrinted(t, "2026-07-28-sessions.txt")
	for name, joined := range map[string][]conformance.Outcome{
		"better first": conformance.Union(stateless, sessions),
		"better last":  conformance.Union(sessions, stateless),
	} {
		if got, want := conformance.Count(joined), conformance.Count(stateless); got != want {
			t.Errorf("%s: %d scenarios pass in either mode, want %d", name, got, want)
		}
		if lost := conformance.Lost(stateless, joined); lost != nil {
			t.Errorf("%s: the union lost %v", name, lost)
		}
	}
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	alone := []conformance.Outcome{passed("a", 1), failed("c", 1), failed("b", 0)}
	file := filepath.Join(t.TempDir(), "baseline.json")
	if err := (conformance.Baseline{"run": conformance.Failing(alone)}).Write(file); err != nil {
		t.Fatal(err)
	}
	b, err := conformance.ReadBaseline(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(conformance.Baseline{"run": {"b", "c"}}, b); diff != "" {
		t.Fatalf("baseline differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"d"}, b.Lost("run", append([]conformance.Outcome{failed("d", 1)}, alone...))); diff != "" {
		t.Errorf("lost by the baseline (-want +got):\n%s", diff)
	}
	tests := []struct {
		name, run string
		alone     []conformance.Outcome
		want      []string
	}{
		{name: "as listed", run: "run", alone: alone},
		{
			name: "fails newly", run: "run", alone: append([]conformance.Outcome{failed("d", 1)}, alone...),
			want: []string{"run: d fails alone and is not in the baseline"},
		},
		{
			name: "passes now", run: "run",
			alone: []conformance.Outcome{passed("b", 1), failed("c", 1)},
			want:  []string{"run: b is in the baseline and does not fail alone: take it out"},
		},
		{name: "unknown run", run: "other", alone: alone, want: []string{"other: not in the baseline"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, b.Check(tt.run, tt.alone)); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}
