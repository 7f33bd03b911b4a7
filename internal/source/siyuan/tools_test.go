package siyuan_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"collie/internal/source"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// TestActionsSayEverything: no field of an action that must be set is empty.
func TestActionsSayEverything(t *testing.T) {
	t.Parallel()
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			t.Run(tl.Name+"."+a.Name, func(t *testing.T) {
				t.Parallel()
				checkComplete(t, tl.Name, a)
			})
		}
	}
}

// checkComplete fails the test if a field of an action that must be set is empty, or is wrong by itself.
func checkComplete(t *testing.T, name string, a *action.Action) {
	if a.Tool != name {
		t.Errorf("it calls its tool %q", a.Tool)
	}
	if a.Purpose == "" || len(a.Purpose) > 100 {
		t.Errorf("purpose has %d bytes: %q", len(a.Purpose), a.Purpose)
	}
	checkRating(t, a)
	if len(a.Needs) == 0 && a.Unguarded == "" {
		t.Error("it needs no level and does not say why")
	}
	if len(a.Endpoints) == 0 && name != "mascot" {
		t.Error("no endpoints")
	}
	if len(a.Returned()) == 0 {
		t.Error("nothing is said of its result")
	}
	for _, f := range a.Returned() {
		if f.Name == "" || f.About == "" {
			t.Errorf("field %+v", f)
		}
	}
	var example map[string]any
	if err := json.Unmarshal([]byte(a.Example), &example); err != nil {
		t.Errorf("example: %v", err)
	}
	for arg := range example {
		if a.Param(arg) == nil {
			t.Errorf("the example gives %q, which is not an argument", arg)
		}
	}
	for _, p := range a.Params() {
		if p.About == "" {
			t.Errorf("argument %s: nothing is said about it", p.Name)
		}
		if _, given := example[p.Name]; p.Required && !given {
			t.Errorf("the example lacks %s", p.Name)
		}
	}
}

// groupedToolList returns the catalog's list of the tools that are on by default.
func groupedToolList(t *testing.T) []byte {
	t.Helper()
	c := kernel.New("http://127.0.0.1:1", kernel.Options{}) // nobody is asked
	s := siyuan.New(siyuan.Options{Kernel: c})
	t.Cleanup(s.Close)
	catalog := source.New([]tool.Source{s}, source.Options{})
	t.Cleanup(catalog.Close)
	raw, _ := catalog.List(t.Context(), tool.ListTools, "")
	return raw
}

// TestExamplesAreOffered: a help page in a terminal shows the example of the action, not an invented one.
func TestExamplesAreOffered(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	for _, tl := range d.source.Offer().Tools {
		for _, a := range tl.Actions {
			if want := "collie " + tl.Name + " "; !strings.HasPrefix(a.Example, want) {
				t.Errorf("%s.%s has the example %q, want one that begins with %q", tl.Name, a.Name, a.Example, want)
			}
		}
	}
}

// checkRating fails the test if the declared risk and effects of an action are missing or contradict what else it declares.
func checkRating(t *testing.T, a *action.Action) {
	t.Helper()
	if a.Class == "" || !slices.Contains([]tool.Risk{tool.RiskNone, tool.RiskLow, tool.RiskMedium, tool.RiskHigh, tool.RiskCritical}, a.Risk) || a.Effects == 0 {
		t.Fatalf("class %q, risk %q, effects %v: each has to be declared", a.Class, a.Risk, a.Effects)
	}
	if asks := a.Dangerous || a.DangerousWith != ""; asks != a.Risk.WaitsForDisk() {
		t.Errorf("a person confirms it: %t, and its risk is %s", asks, a.Risk)
	}
	if a.Class.Writes() && !a.Effects.Has(tool.EffectWrite) {
		t.Errorf("it is of class %s and declares no write: %v", a.Class, a.Effects)
	}
	if none := a.Risk == tool.RiskNone; none && a.Effects != tool.EffectRead || !none && a.Effects == tool.EffectRead && a.Class != action.Reads {
		t.Errorf("its risk is %s, and its effects are %v", a.Risk, a.Effects)
	}
	if a.Effects.Has(tool.EffectDelete) && !a.Risk.WaitsForDisk() {
		t.Errorf("it deletes, and its risk is %s", a.Risk)
	}
}
