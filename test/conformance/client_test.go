//go:build stories

package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collie/test/binary"
	"collie/test/conformance"
)

// asClient stands for the backend in the names of runs in the client role.
const asClient = "client"

// clientSuites are the suites of the client role. The suite runs all scenarios at once.
var clientSuites = []struct {
	name, release string
	args          []string
}{
	{"0.1.16 all", "conformance-0.1", []string{"--suite", "all"}},
	{"2025-11-25", "conformance-0.2", []string{"--requirements", "2025-11-25"}},
	{"2026-07-28", "conformance-0.2", []string{"--requirements", "2026-07-28"}},
}

// gained are scenarios that the client passes only with Collie, because Collie does the signing in.
var gained = []string{"auth/client-credentials-basic"}

// notOfGateways are scenarios that no gateway between client and server can pass, with the reason. It is empty. An
// entry means that users lose something when they put Collie in front of a server.
var notOfGateways = map[string]string{}

// TestClientRole runs the client of the Go SDK against the suites' own servers with a Collie in between. With -full or
// -update it also runs the client alone; otherwise it compares with the baseline.
func TestClientRole(t *testing.T) {
	modules := binary.Packages(t, ".")
	b := bench{
		collie: binary.Build(t, binary.Collie), everything: binary.Build(t, binary.EverythingClient),
		node: binary.Node(t, modules), modules: modules,
	}
	between := binary.Build(t, "./test/conformance/between")
	var alone map[string][]conformance.Outcome
	if *full || *update {
		alone = map[string][]conformance.Outcome{}
		for _, suite := range clientSuites {
			alone[runName(suite.name, asClient)], _ = b.client(t, suite.release, b.everything, suite.args)
		}
		checkBaseline(t, alone, func(run string) bool { return strings.HasSuffix(run, ", "+asClient) })
	}
	behind := map[string]string{}

	for _, suite := range clientSuites {
		run := runName(suite.name, asClient)
		command := strings.Join([]string{between, "-collie", b.collie, "-client", b.everything}, " ")
		is, results := b.client(t, suite.release, command, suite.args)
		behind[suite.name] = fmt.Sprintf("%d/%d alone, %d/%d with Collie between",
			conformance.Count(alone[run]), len(alone[run]), conformance.Count(is), len(is))
		for _, scenario := range lostScenarios(t, run, alone, is) {
			if why := notOfGateways[scenario]; why != "" {
				t.Logf("%s: %s: %s", suite.name, scenario, why)
				continue
			}
			if onlyLate(results, scenario) {
				t.Logf("%s: %s: only late by the clock, as on a busy machine", suite.name, scenario)
				continue
			}
			t.Errorf("%s: %s passes alone and not with Collie between%s%s", suite.name, scenario, reasons(results, scenario), stderrText(results, scenario))
		}
		failing := conformance.Failing(is)
		for _, scenario := range gained {
			if slices.Contains(failing, scenario) {
				t.Errorf("%s: %s does not pass%s%s", suite.name, scenario, reasons(results, scenario), stderrText(results, scenario))
			}
		}
		for scenario := range notOfGateways {
			if !slices.Contains(failing, scenario) {
				t.Errorf("%s: %s passes: take it out of notOfGateways", suite.name, scenario)
			}
		}
	}
	for _, suite := range clientSuites {
		t.Logf("%s: %s", suite.name, behind[suite.name])
	}
}

// late are checks that warn where something came late by the clock, and fail where it came early.
var late = []string{"client-sse-retry-timing"}

// onlyLate reports whether a late answer is the scenario's only problem.
func onlyLate(results, scenario string) bool {
	wrong := badChecks(results, scenario)
	return len(wrong) > 0 && !slices.ContainsFunc(wrong, func(c check) bool { return c.Status != "WARNING" || !slices.Contains(late, c.ID) })
}

// client runs one suite with a client and returns its outcomes and the folder of its results.
func (b bench) client(t *testing.T, release, command string, args []string) (all []conformance.Outcome, results string) {
	t.Helper()
	return b.runSuite(t, release, append([]string{"client", "--command", command, "--timeout", "120000"}, args...))
}

// stderrText returns what the programs of a scenario wrote to stderr.
func stderrText(results, scenario string) string {
	files, err := filepath.Glob(filepath.Join(results, scenario+"-20*", "stderr.txt"))
	if err != nil || len(files) == 0 {
		return ""
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		return ""
	}
	return "\n\t| " + strings.ReplaceAll(strings.TrimSpace(string(raw)), "\n", "\n\t| ")
}
