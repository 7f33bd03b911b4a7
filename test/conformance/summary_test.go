package conformance_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"collie/test/conformance"
)

// parsePrinted parses a recorded output of a suite in testdata. The recordings have only the head and the summary.
func parsePrinted(t *testing.T, name string) []conformance.Outcome {
	t.Helper()
	all, err := conformance.ParseSummary(mustReadFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func mustReadFile(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestParseSummary(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file          string
		ran, passed   int
		first, failed conformance.Outcome
	}{
		{
			file: "active.txt", ran: 30, passed: 26,
			first:  conformance.Outcome{Scenario: "server-initialize", Passed: 1, Mark: true},
			failed: conformance.Outcome{Scenario: "tools-call-sampling", Failed: 1},
		},
		{
			file: "2026-07-28.txt", ran: 50, passed: 41,
			first:  conformance.Outcome{Scenario: "server-stateless", Passed: 30, Mark: true},
			failed: conformance.Outcome{Scenario: "tasks-lifecycle", Passed: 1, Failed: 8},
		},
		{
			file: "client-2025-11-25.txt", ran: 25, passed: 18,
			first:  conformance.Outcome{Scenario: "initialize", Passed: 1, Mark: true},
			failed: conformance.Outcome{Scenario: "auth/basic-cimd", Passed: 14}, // with a warning
		},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			all := parsePrinted(t, tt.file)
			if len(all) != tt.ran || conformance.Count(all) != tt.passed {
				t.Errorf("%d of %d scenarios pass, want %d of %d", conformance.Count(all), len(all), tt.passed, tt.ran)
			}
			if all[0] != tt.first {
				t.Errorf("first is %+v, want %+v", all[0], tt.first)
			}
			for _, o := range all {
				if o.Scenario == tt.failed.Scenario && o != tt.failed {
					t.Errorf("got %+v, want %+v", o, tt.failed)
				}
			}
		})
	}
}

func TestParseSummaryBrokenOff(t *testing.T) {
	t.Parallel()
	whole := mustReadFile(t, "active.txt")
	half := whole[:bytes.Index(whole, []byte("✓ ping"))]
	none := whole[:bytes.Index(whole, []byte("=== SUMMARY"))]
	for name, out := range map[string][]byte{"empty": nil, "no summary": none, "half a summary": half} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if all, err := conformance.ParseSummary(out); err == nil {
				t.Errorf("no error for a run that broke off, got %d scenarios", len(all))
			}
		})
	}
}
