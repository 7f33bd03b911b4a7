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
		{"kept", outcomes{passed("a", 2)}, outcomes{passed("a", 1)}, nil},
		{"failed before", outcomes{failed("a", 1)}, outcomes{failed("a", 0)}, nil},
		{"no checks in either", outcomes{passed("a", 0)}, outcomes{passed("a", 0)}, nil},
		{"more behind", outcomes{failed("a", 1)}, outcomes{passed("a", 2)}, nil},
		{"fails", outcomes{passed("a", 2)}, outcomes{failed("a", 1)}, []string{"a"}},
		{"all checks skipped", outcomes{passed("a", 2)}, outcomes{passed("a", 0)}, []string{"a"}},
		{"not run", outcomes{passed("a", 2), passed("b", 1)}, outcomes{passed("b", 1)}, []string{"a"}},
		{"marked as failed", outcomes{passed("a", 2)}, outcomes{{Scenario: "a", Passed: 2}}, []string{"a"}},
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
	stateless, sessions := printed(t, "2026-07-28.txt"), printed(t, "2026-07-28-sessions.txt")
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
		{"as listed", "run", alone, nil},
		{
			"fails newly", "run", append([]conformance.Outcome{failed("d", 1)}, alone...),
			[]string{"run: d fails alone and is not in the baseline"},
		},
		{
			"passes now", "run",
			[]conformance.Outcome{passed("b", 1), failed("c", 1)},
			[]string{"run: b is in the baseline and does not fail alone: take it out"},
		},
		{"unknown run", "other", alone, []string{"other: not in the baseline"}},
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
