//go:build stories

package conformance_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"collie/test/binary"
	"collie/test/conformance"
)

var (
	full   = flag.Bool("full", false, "run server and client alone as well, and every way to reach the server")
	update = flag.Bool("update", false, "rewrite baseline.json from what the server does not pass alone")
)

const baselineFile = "baseline.json"

// suites are the official suites; name is the release or protocol revision that one checks.
var suites = []struct {
	name, release string
	args          []string
}{
	{"0.1.16 active", "conformance-0.1", []string{"--suite", "active"}},
	{"2025-11-25", "conformance-0.2", []string{"--requirements", "2025-11-25"}},
	{"2026-07-28", "conformance-0.2", []string{"--requirements", "2026-07-28"}},
}

// backends are the ways in which Collie reaches the server.
const (
	overStdio    = "stdio"
	overHTTP     = "http stateless"
	overSessions = "http sessions" // -stateless=false
)

var backends = []string{overStdio, overHTTP, overSessions}

// bench holds the paths of the programs and installed packages that every run needs.
type bench struct {
	collie, everything, node, modules string
}

// TestConformance runs the suites of the server role against Collie in front of the SDK's test server, for each way to
// reach that server. Every scenario that the server passes alone must pass, unless excuse has a reason. With -full or
// -update it also runs the server alone; otherwise it compares with the baseline.
func TestConformance(t *testing.T) {
	modules := binary.Packages(t, ".")
	b := bench{
		collie:     binary.Build(t, binary.Collie),
		everything: binary.Build(t, binary.EverythingInSDK),
		node:       binary.Node(t, modules),
		modules:    modules,
	}
	var alone map[string][]conformance.Outcome
	if *full || *update {
		alone = b.runAlone(t)
		checkBaseline(t, alone, func(run string) bool { return !strings.HasSuffix(run, ", "+asClient) })
	}

	table := newTable()
	t.Run("behind", func(t *testing.T) {
		for _, backend := range backends {
			for _, beside := range []bool{false, true} {
				if !*full && beside != (backend == overStdio) {
					continue
				}
				name := backend
				if beside {
					name += " + filesystem"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					url := binary.Serve(t, b.collie, b.writeConfig(t, backend, beside))
					for _, suite := range suites {
						behind, results := b.run(t, suite.release, url, suite.args)
						run := runName(suite.name, backend)
						table.add(suite.name, name, alone[run], behind)
						for _, scenario := range lostScenarios(t, run, alone, behind) {
							if why := excuse(backend, scenario, behind); why != "" {
								t.Logf("%s: %s: %s", suite.name, scenario, why)
								continue
							}
							t.Errorf("%s: %s passes alone and not behind Collie%s", suite.name, scenario, reasons(results, "server-"+scenario))
						}
					}
				})
			}
		}
	})
	t.Logf("scenarios that pass, of those that run:\n%s", table)
}

// lostScenarios returns the scenarios that pass without Collie and fail with it. It compares with the outcomes in alone or, if
// that is nil, with the baseline.
func lostScenarios(t *testing.T, run string, alone map[string][]conformance.Outcome, behind []conformance.Outcome) []string {
	t.Helper()
	if alone != nil {
		return conformance.Lost(alone[run], behind)
	}
	b, err := conformance.ReadBaseline(baselineFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, known := b[run]; !known || len(behind) == 0 {
		t.Errorf("%s: it ran %d scenarios; is it in the baseline? %t", run, len(behind), known)
	}
	return b.Lost(run, behind)
}

// excuse returns why a scenario may pass behind Collie without running the checks that it runs alone; empty if it
// may not.
func excuse(backend, scenario string, behind []conformance.Outcome) string {
	if backend != overSessions || scenario != "server-sse-polling" {
		return ""
	}
	for _, o := range behind {
		if o.Scenario == scenario && o.Passes() {
			return "the server keeps no events, closes the stream and so loses its own response; " +
				"Collie says so in JSON at once, and the checks of a stream do not apply"
		}
	}
	return ""
}

// runAlone runs the suites directly against the server and returns the outcomes by run name. It runs before anything
// else, so that nothing slows the server down.
func (b bench) runAlone(t *testing.T) map[string][]conformance.Outcome {
	t.Helper()
	alone := map[string][]conformance.Outcome{}
	stateless := binary.Everything(t, b.everything, true)
	sessions := binary.Everything(t, b.everything, false)
	for _, suite := range suites {
		overNew, _ := b.run(t, suite.release, stateless, suite.args)
		overOld, _ := b.run(t, suite.release, sessions, suite.args)
		alone[runName(suite.name, overHTTP)] = overNew
		alone[runName(suite.name, overSessions)] = overOld
		alone[runName(suite.name, overStdio)] = conformance.Union(overNew, overOld)
	}
	return alone
}

// runName returns the name of a run in the baseline.
func runName(suite, backend string) string { return suite + ", " + backend }

// checkBaseline compares runs with the part of the baseline that theirs selects.
func checkBaseline(t *testing.T, alone map[string][]conformance.Outcome, theirs func(run string) bool) {
	t.Helper()
	if *update {
		b, err := conformance.ReadBaseline(baselineFile)
		if err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(b, func(run string, _ []string) bool { return theirs(run) })
		for run, outcomes := range alone {
			b[run] = conformance.Failing(outcomes)
		}
		if err := b.Write(baselineFile); err != nil {
			t.Fatal(err)
		}
	}
	b, err := conformance.ReadBaseline(baselineFile)
	if err != nil {
		t.Fatal(err)
	}
	for run := range b {
		if _, ran := alone[run]; theirs(run) && !ran {
			t.Errorf("%s: in the baseline and not run", run)
		}
	}
	for run, outcomes := range alone {
		for _, problem := range b.Check(run, outcomes) {
			t.Error(problem)
		}
	}
}

// run runs one suite against url and returns its outcomes and the folder of its results.
func (b bench) run(t *testing.T, release, url string, args []string) (all []conformance.Outcome, results string) {
	t.Helper()
	return b.runSuite(t, release, append([]string{"server", "--url", url}, args...))
}

// runSuite runs one suite in either role.
func (b bench) runSuite(t *testing.T, release string, args []string) (all []conformance.Outcome, results string) {
	t.Helper()
	results = t.TempDir()
	args = append([]string{filepath.Join(b.modules, release, "dist", "index.js")}, append(args, "--output-dir", results)...)
	cmd := exec.CommandContext(t.Context(), b.node, args...)
	cmd.Dir = results
	out, err := cmd.CombinedOutput() // the exit code only says that a scenario failed
	all, parseErr := conformance.ParseSummary(out)
	if parseErr != nil {
		t.Fatalf("%s %s: %v, %v\n%s", release, strings.Join(args[1:], " "), err, parseErr, out)
	}
	return all, results
}

// writeConfig writes the settings of a Collie with the server under its own names and, if asked,
// another server beside it.
func (b bench) writeConfig(t *testing.T, backend string, beside bool) (file string) {
	t.Helper()
	none := ""
	type entry struct {
		Type    string   `json:"type"`
		Command string   `json:"command,omitempty"`
		Args    []string `json:"args,omitempty"`
		URL     string   `json:"url,omitempty"`
		Prefix  *string  `json:"prefix,omitempty"`
	}
	everything := entry{Type: "stdio", Command: b.everything, Prefix: &none}
	if backend != overStdio {
		url := binary.Everything(t, b.everything, backend == overHTTP)
		everything = entry{Type: "http", URL: url, Prefix: &none}
	}
	servers := map[string]entry{"everything": everything}
	if beside {
		program := filepath.Join(b.modules, "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
		servers["filesystem"] = entry{Type: "stdio", Command: b.node, Args: []string{program, t.TempDir()}}
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": servers, "siyuan": map[string]any{"enabled": false}})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "collie.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// check is the result of one check of a suite.
type check struct{ ID, Status, Description, ErrorMessage string }

// badChecks reads from a suite's results the checks of a scenario that failed or warn.
func badChecks(results, scenario string) (wrong []check) {
	files, err := filepath.Glob(filepath.Join(results, scenario+"-20*", "checks.json"))
	if err != nil || len(files) == 0 {
		return nil
	}
	raw, err := os.ReadFile(files[0])
	if err != nil || json.Unmarshal(raw, &wrong) != nil {
		return nil
	}
	return slices.DeleteFunc(wrong, func(c check) bool { return c.Status != "FAILURE" && c.Status != "WARNING" })
}

// reasons says why a scenario failed, a line for each check.
func reasons(results, scenario string) string {
	var lines strings.Builder
	for _, c := range badChecks(results, scenario) {
		fmt.Fprintf(&lines, "\n\t%s: %s", c.ID, cmp.Or(c.ErrorMessage, c.Description))
	}
	if lines.Len() == 0 {
		return ": none of its checks ran, or it did not"
	}
	return lines.String()
}

// table collects the figures of all runs, in any order.
type table struct {
	mu   sync.Mutex
	rows map[string]string
}

func newTable() *table { return &table{rows: map[string]string{}} }

func (tb *table) add(suite, backend string, alone, behind []conformance.Outcome) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.rows[suite+"\t"+backend] = fmt.Sprintf("%d/%d\t%d/%d",
		conformance.Count(alone), len(alone), conformance.Count(behind), len(behind))
}

func (tb *table) String() string {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "suite\tbackend\talone\tbehind Collie")
	for _, suite := range suites {
		for _, backend := range backends {
			for _, beside := range []string{"", " + filesystem"} {
				row := suite.name + "\t" + backend + beside
				if figures, ran := tb.rows[row]; ran {
					_, _ = fmt.Fprintf(w, "%s\t%s\n", row, figures)
				}
			}
		}
	}
	_ = w.Flush()
	return out.String()
}
