package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"
)

// Rules for a verdict. Instructions hardly vary, so their mean is compared with the limit. Processor time
// varies if others use the machine; a mean beyond the limit counts only if the interval shows that there is a
// difference at all. Other times count as worse only if even the better end of their interval is beyond the
// limit.
const (
	dearest = "mean ≤ 1.02"
	dearer  = "mean ≤ 1.02 or interval reaches 1"
	slowest = "interval reaches 1.02"

	mostRatio = 1.02
)

// row is one line of a comparison.
type row struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Old   float64 `json:"old"` // mean of the rounds
	New   float64 `json:"new"`
	Ratio float64 `json:"ratio"` // geometric mean; above 1 means that the new program is worse
	Low   float64 `json:"low"`   // lower end of its 95 % interval
	High  float64 `json:"high"`
	Limit string  `json:"limit,omitempty"` // empty: for information only
	More  bool    `json:"moreIsBetter,omitempty"`
	Worse bool    `json:"worse"`
}

// verdict is the result of a comparison.
type verdict struct {
	Old     string  `json:"old"`
	New     string  `json:"new"`
	Rounds  int     `json:"rounds"`
	Seconds float64 `json:"seconds"`
	Method  string  `json:"method"`
	Rows    []row   `json:"rows"`
	Worse   bool    `json:"worse"`
}

const method = "paired t over the logarithms of the ratios of the rounds"

// verdict evaluates the measurements.
func (c *comparison) verdict() *verdict {
	v := &verdict{Rounds: c.plan.rounds, Method: method}
	for _, name := range c.order {
		r := judge(c.samples[name])
		v.Rows, v.Worse = append(v.Rows, r), v.Worse || r.Worse
	}
	return v
}

// judge compares the rounds of one figure.
func judge(s *samples) row {
	r := s.row
	r.Old, r.New = mean(s.rounds[0]), mean(s.rounds[1])
	logs := make([]float64, min(len(s.rounds[0]), len(s.rounds[1])))
	for i := range logs {
		logs[i] = math.Log(s.rounds[1][i] / s.rounds[0][i])
		if r.More {
			logs[i] = -logs[i]
		}
	}
	middle, half := meanInterval(logs)
	half = min(half, 100) // a meaningless value must still be a number for JSON
	r.Ratio, r.Low, r.High = math.Exp(middle), math.Exp(middle-half), math.Exp(middle+half)
	switch r.Limit {
	case dearest:
		r.Worse = r.Ratio > mostRatio
	case dearer:
		r.Worse = r.Ratio > mostRatio && r.Low > 1
	case slowest:
		r.Worse = r.Low > mostRatio
	}
	return r
}

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// meanInterval returns the mean of v and half the width of its 95 % interval, by Student's t.
func meanInterval(v []float64) (middle, half float64) {
	middle = mean(v)
	n := float64(len(v))
	if n < 2 {
		return middle, math.Inf(1)
	}
	var squares float64
	for _, x := range v {
		squares += (x - middle) * (x - middle)
	}
	return middle, studentQuantile(len(v)-1) * math.Sqrt(squares/(n-1)/n)
}

// studentQuantile returns the 97.5 % quantile of Student's t by degrees of freedom.
func studentQuantile(freedom int) float64 {
	known := []float64{
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
		2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	}
	if freedom <= len(known) {
		return known[freedom-1]
	}
	return 1.96 + 2.5/float64(freedom) // within 0.003 from there on
}

// table returns the verdict as a table for people.
func (v *verdict) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %s, new %s: %d rounds in turns, %.0f s; %s\n\n", v.Old, v.New, v.Rounds, v.Seconds, v.Method)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "WHAT\tOLD\tNEW\tRATIO\t95 %\tLIMIT\t")
	for _, r := range v.Rows {
		word := "ok"
		switch {
		case r.Limit == "":
			word = ""
		case r.Worse:
			word = "WORSE"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%.3f\t%.3f … %.3f\t%s\t%s\n",
			r.Name, formatValue(r.Old, r.Unit), formatValue(r.New, r.Unit), r.Ratio, r.Low, r.High, r.Limit, word)
	}
	_ = w.Flush()
	word := "not worse"
	if v.Worse {
		word = "worse"
	}
	return b.String() + "\nA ratio above 1 means that the new program is slower, dearer or larger. It is " + word + ".\n"
}

func formatValue(v float64, unit string) string {
	digits := 2
	if v >= 100 {
		digits = 0
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, v, unit))
}

// writeJSON writes the verdict to a file, or to out for -.
func (v *verdict) writeJSON(file string, out io.Writer) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	if file == "-" {
		_, err = out.Write(raw)
		return err
	}
	return os.WriteFile(file, raw, 0o644)
}
