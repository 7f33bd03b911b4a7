package vault

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault"
	"collie/test/await"
)

//go:generate go test . -run ^TestSameAnswersAsTheKernel$ -update

var update = flag.Bool("update", false, "write the reference")

// reference is the file that this test writes.
const reference = "../../docs/reference/vault/endpoints.md"

// leastSame is the share of the steps in scope, without the excused ones, that must be answered as the kernel did.
const leastSame = 0.95

// inScope returns the endpoints that actions of the tools call, in order.
func inScope() []string {
	var list []string
	for _, tool := range siyuan.Tools() {
		for _, a := range tool.Actions {
			for _, e := range a.Endpoints {
				list = append(list, "/api/"+e)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// stepName returns the name of a row, such as "sql#2", by which the tables list it.
func stepName(row kerneltest.Row) string { return fmt.Sprintf("%s#%d", row.Scenario, row.Seq) }

// TestSameAnswersAsTheKernel replays every scenario of the recordings against a vault of its own, and compares each
// step in scope with the answer of the kernel: status, code, types, keys and values, with ids and times mapped. A
// step that is not the same must be in one of the tables excused and differing, and a step in them must not be the
// same.
func TestSameAnswersAsTheKernel(t *testing.T) {
	t.Parallel()
	steps, complete := replayAll(t)
	for _, s := range steps {
		s.check(t)
	}
	if t.Failed() || !complete {
		return
	}
	r := newReport(steps)
	t.Logf("%d steps in scope: %d same, %d differ, %d excused; that is %s of those not excused and %s of all",
		r.total.steps, r.total.same, r.total.differs, r.total.excused, r.total.share(r.total.excused), r.total.share(0))
	if counted := r.total.steps - r.total.excused; float64(r.total.same) < leastSame*float64(counted) {
		t.Errorf("%d of %d steps are the same, fewer than %v", r.total.same, counted, leastSame)
	}
	page := r.markdown()
	if *update {
		if err := os.MkdirAll(filepath.Dir(reference), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(reference, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(reference)
	if err != nil {
		t.Fatalf("%v; go generate ./test/vault writes it", err)
	}
	if diff := cmp.Diff(page, string(old)); diff != "" {
		t.Errorf("%s is old, go generate ./test/vault writes it (-want +got):\n%s", filepath.Base(reference), diff)
	}
}

// replayAll plays the scenarios in parallel, each in a synctest bubble with its own clock. complete is false if -run
// chose some scenarios, and under the race detector, where one in ten is played.
func replayAll(t *testing.T) (steps []step, complete bool) {
	all := slices.Collect(scenarios(t))
	played := make([][]step, len(all))
	scope := inScope()
	var done atomic.Int32
	t.Run("scenarios", func(t *testing.T) {
		for i, rows := range all {
			if await.Race && i%10 != 0 {
				continue
			}
			t.Run(rows[0].Scenario, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { played[i] = replayScenario(t, rows, scope) })
				done.Add(1)
			})
		}
	})
	return slices.Concat(played...), int(done.Load()) == len(all)
}

// check fails the test unless the result of the step is as the tables say.
func (s step) check(t *testing.T) {
	t.Helper()
	_, isExcused := excused[stepName(s.Row)]
	_, isKnown := differing[stepName(s.Row)]
	switch {
	case isExcused && isKnown:
		t.Errorf("%s stands in both tables", stepName(s.Row))
	case s.isSame() && (isExcused || isKnown) && !byChance[stepName(s.Row)]:
		t.Errorf("%s is the same now: take it out of its table", stepName(s.Row))
	case !s.isSame() && !isExcused && !isKnown:
		t.Errorf("differs and stands in no table:\n%s", kerneltest.Describe(s.Row, s.diffs))
	}
}

// TestTablesNameSteps: every entry in the tables is about a recorded step or endpoint.
func TestTablesNameSteps(t *testing.T) {
	t.Parallel()
	inScope, isStep, endpoints := inScope(), map[string]bool{}, map[string]bool{}
	asked := map[string]bool{}
	for rows := range scenarios(t) {
		for _, row := range rows {
			isStep[stepName(row)], endpoints[row.Endpoint()] = true, true
			asked[stepName(row)] = slices.Contains(inScope, row.Endpoint())
		}
	}
	for _, table := range []map[string]string{excused, differing, unsent} {
		for step, reason := range table {
			if !asked[step] || reason == "" {
				t.Errorf("%s is not a step in scope, or has no reason", step)
			}
		}
	}
	for step := range byChance {
		if excused[step] == "" {
			t.Errorf("%s is not excused", step)
		}
	}
	for step := range unsent {
		if excused[step] == "" && differing[step] == "" {
			t.Errorf("%s is not sent and stands in no table", step)
		}
	}
	for step := range unrecorded {
		if !isStep[step] {
			t.Errorf("%s is not a step", step)
		}
	}
	for step := range longBodies {
		if !isStep[step] {
			t.Errorf("%s is not a step", step)
		}
	}
	for endpoint := range standIns {
		if !endpoints[endpoint] || slices.Contains(vault.Endpoints(), endpoint) {
			t.Errorf("%s was never recorded, or the vault has it", endpoint)
		}
	}
}
