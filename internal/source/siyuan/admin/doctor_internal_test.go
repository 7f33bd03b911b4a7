package admin

import (
	"testing"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	r := &Report{Checks: []Check{{Name: "kernel", Status: CheckOK}, {Name: "levels", Status: CheckOK, Issue: "nothing_writable"}}}
	if r.Judge(); !r.Ready || r.Status != "ready" || r.Access.Reads != "available" || len(r.Issues) != 1 {
		t.Errorf("%+v", r)
	}
	r.Checks = append(r.Checks, Check{Name: "gateway", Status: CheckFailed, Issue: "x"}, Check{Name: "a", Status: CheckFailed, Issue: "x"})
	if r.Judge(); r.Ready || r.Status != "degraded" || r.Access.Reads != "available" || len(r.Issues) != 2 {
		t.Errorf("%+v", r)
	}
	r.Checks[0].Status = CheckFailed
	if r.Judge(); r.Access.Reads != "unavailable" {
		t.Errorf("%+v", r)
	}
}
