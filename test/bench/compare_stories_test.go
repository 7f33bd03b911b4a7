//go:build stories

package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"collie/test/binary"
)

// A quick comparison of a program with itself takes every figure. Its verdicts after so few rounds
// are ignored.
func TestCompareQuick(t *testing.T) {
	collie := binary.Build(t, binary.Collie)
	var out strings.Builder
	err := compare(t.Context(), []string{"-quick", "-json", "-", "-old", collie, "-new", collie}, &out, t.Output())
	if err != nil && !errors.Is(err, errWorse) {
		t.Fatal(err)
	}
	var v verdict
	if err := json.Unmarshal([]byte(out.String()), &v); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if v.Rounds != shortComparison.rounds || v.Worse != errors.Is(err, errWorse) {
		t.Errorf("%d rounds, worse %v, error %v", v.Rounds, v.Worse, err)
	}
	found := map[string]row{}
	for _, r := range v.Rows {
		_, name, ofCost := strings.Cut(r.Name, " time ")
		if !ofCost {
			if _, name, ofCost = strings.Cut(r.Name, " instructions "); !ofCost {
				name = r.Name
			}
		}
		found[name] = r
	}
	for name, judged := range map[string]bool{
		costOfOneSession: true, costOfManySessions: false, callLatency: true, throughputFigure: true, bridgeLatency: true, listLatency: true, startDuration: true, memoryAtRest: false,
	} {
		if r, ok := found[name]; !ok || r.Old <= 0 || r.New <= 0 || r.Low > r.Ratio || r.High < r.Ratio || (r.Limit != "") != judged {
			t.Errorf("%s: %+v", name, r)
		}
	}
	t.Log(v.table())
}

func TestCompareRefuses(t *testing.T) {
	for _, args := range [][]string{
		{}, {"-old", "x"}, {"-old", "HEAD", "-new", "HEAD", "-rounds", "3"}, {"-old", "no such thing", "-new", "HEAD", "-quick"},
	} {
		if err := compare(t.Context(), args, t.Output(), t.Output()); err == nil || errors.Is(err, errWorse) {
			t.Errorf("%q: %v, want what is wrong", args, err)
		}
	}
}
