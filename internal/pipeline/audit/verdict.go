package audit

import "time"

// Verdict is a [Report] in the form in which faces answer with it.
type Verdict struct {
	OK      bool           `json:"ok"`
	Dir     string         `json:"dir"`
	Records int            `json:"records"`
	Chains  []ChainVerdict `json:"chains"`
	Anchor  *AnchorVerdict `json:"anchor,omitempty"` // none if no anchor is set
}

// ChainVerdict is what was found in one chain.
type ChainVerdict struct {
	Chain     string    `json:"chain"`
	OK        bool      `json:"ok"`
	Records   int       `json:"records"`
	First     time.Time `json:"first,omitzero"`
	Last      time.Time `json:"last,omitzero"`
	Covered   uint64    `json:"covered"`   // the newest record that the signed head covers
	Uncovered uint64    `json:"uncovered"` // valid records after that one
	Torn      bool      `json:"torn"`      // the last line is incomplete, as after a crash
	Ended     bool      `json:"ended"`
	Problems  []Flaw    `json:"problems"`
}

// AnchorVerdict is what was found in the anchor.
type AnchorVerdict struct {
	Path     string `json:"path"`
	OK       bool   `json:"ok"`
	Missing  bool   `json:"missing"`
	Chains   int    `json:"chains"`
	Unnamed  int    `json:"unnamed"` // chains that it should name and does not
	Problems []Flaw `json:"problems"`
}

// Verdict returns the verdict about the chains in dir.
func (r *Report) Verdict(dir string) Verdict {
	v := Verdict{OK: r.OK(), Dir: dir, Records: r.Records(), Chains: []ChainVerdict{}}
	for i := range r.Chains {
		c := &r.Chains[i]
		v.Chains = append(v.Chains, ChainVerdict{
			c.Chain, c.OK(), c.Records, c.First, c.Last, c.Covered, c.Uncovered, c.Torn, c.Ended, flaws(c.Problems),
		})
	}
	if a := &r.Anchor; a.Path != "" {
		v.Anchor = &AnchorVerdict{a.Path, a.OK(), a.Missing, a.Chains, a.Unnamed, flaws(a.Problems)}
	}
	return v
}

// Flaw is a [Problem] of a [Verdict].
type Flaw Problem

func flaws(list []Problem) []Flaw {
	out := make([]Flaw, len(list))
	for i, p := range list {
		out[i] = Flaw(p)
	}
	return out
}
