package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// madeUpSamples is a comparison in which the new program's values are the old one's times factor, scattered
// by as much as spread from round to round.
func madeUpSamples(factor, spread float64, rounds int, r row) *samples {
	s := &samples{row: r}
	for i := range rounds {
		was := 100 + 10*float64(i%3) // the machine's own variation is the same for both
		wobble := 1 + spread*float64(i%5-2)/2
		s.rounds[0] = append(s.rounds[0], was)
		s.rounds[1] = append(s.rounds[1], was*factor*wobble)
	}
	return s
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		factor, spread float64
		row            row
		worse          bool
	}{
		"the same, to the instruction": {factor: 1, row: row{Limit: dearest}},
		"a little dearer":              {factor: 1.015, spread: 0.002, row: row{Limit: dearest}},
		"dearer":                       {factor: 1.03, spread: 0.002, row: row{Limit: dearest}, worse: true},
		"cheaper":                      {factor: 0.7, spread: 0.002, row: row{Limit: dearest}},
		"more processor time":          {factor: 1.03, spread: 0.01, row: row{Limit: dearer}, worse: true},
		"perhaps more processor time":  {factor: 1.03, spread: 0.2, row: row{Limit: dearer}},
		"little more processor time":   {factor: 1.015, spread: 0.002, row: row{Limit: dearer}},
		"the same, with noise":         {factor: 1, spread: 0.2, row: row{Limit: slowest}},
		"slower, within the noise":     {factor: 1.05, spread: 0.2, row: row{Limit: slowest}},
		"slower":                       {factor: 1.1, spread: 0.05, row: row{Limit: slowest}, worse: true},
		"faster":                       {factor: 0.8, spread: 0.05, row: row{Limit: slowest}},
		"more calls":                   {factor: 1.2, spread: 0.05, row: row{Limit: slowest, More: true}},
		"fewer calls":                  {factor: 0.85, spread: 0.05, row: row{Limit: slowest, More: true}, worse: true},
		"larger, as information":       {factor: 3, row: row{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judge(madeUpSamples(test.factor, test.spread, 15, test.row))
			want := test.factor
			if test.row.More {
				want = 1 / want
			}
			if r.Worse != test.worse || math.Abs(r.Ratio/want-1) > 0.02 || r.Low > r.Ratio || r.High < r.Ratio {
				t.Errorf("ratio %.3f, %.3f … %.3f, worse %v; want %.3f and %v", r.Ratio, r.Low, r.High, r.Worse, want, test.worse)
			}
		})
	}
}

// TestInterval compares interval with the interval of a t test, calculated by hand for 1, 2, 3, 4, whose standard
// deviation is 1.291.
func TestInterval(t *testing.T) {
	t.Parallel()
	middle, half := meanInterval([]float64{1, 2, 3, 4})
	if want := 3.182 * 1.2909944 / 2; middle != 2.5 || math.Abs(half-want) > 1e-3 {
		t.Errorf("%v ± %v, want 2.5 ± %v", middle, half, want)
	}
	if _, half := meanInterval([]float64{1}); !math.IsInf(half, 1) {
		t.Errorf("one value has an interval of %v", half)
	}
	for freedom, want := range map[int]float64{1: 12.706, 11: 2.201, 30: 2.042, 40: 2.021, 120: 1.980} {
		if got := studentQuantile(freedom); math.Abs(got-want) > 0.003 {
			t.Errorf("quantile for %d is %v, want %v", freedom, got, want)
		}
	}
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]float64{
		"187654321,,instructions:u,801234567,100.00,,\n":                      187654321,
		"# started on Sun\n\n5,,instructions:u,1,100.00,1.2,insn per cycle\n": 5,
		"<not supported>,,instructions:u,0,100.00,,\n":                        -1,
		"<not counted>,,instructions:u,0,100.00,,\n":                          -1,
		"perf: permission denied\n":                                           -1,
		"":                                                                    -1,
	} {
		got, err := parseInstructions(out)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q gives %v, %v; want %v", out, got, err, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	c := &comparison{plan: comparisonPlan{rounds: 12}, samples: map[string]*samples{}}
	for name, s := range map[string]*samples{
		callLatency:  madeUpSamples(1.2, 0.01, 12, row{Name: callLatency, Unit: "µs", Limit: slowest}),
		memoryAtRest: madeUpSamples(1, 0.01, 12, row{Name: memoryAtRest, Unit: "MiB"}),
	} {
		c.samples[name], c.order = s, append(c.order, name)
	}
	slices.Sort(c.order)
	v := c.verdict()
	var out strings.Builder
	if err := v.writeJSON("-", &out); err != nil || !v.Worse || !strings.Contains(out.String(), `"worse": true`) {
		t.Errorf("verdict %+v, %v, as JSON\n%s", v, err, &out)
	}
	for _, want := range []string{"12 rounds", method, callLatency, "WORSE", "It is worse."} {
		if text := v.table(); !strings.Contains(text, want) {
			t.Errorf("the table has no %q:\n%s", want, text)
		}
	}
}
