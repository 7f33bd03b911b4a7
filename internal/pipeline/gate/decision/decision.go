// Package decision says what becomes of a call that the fixed rules let pass: it runs, a person is asked, or it is
// refused. [Decide] is a pure function; what it decides by is the table in table.txt, which is read at its first use.
package decision

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"collie/internal/tool"
)

// What the guardian, a second model that looks at calls, is there for.
const (
	off     = "off"     // it is asked nothing
	monitor = "monitor" // its verdicts are on record and count for nothing
	Enforce = "enforce" // its verdicts count
)

// failed is the verdict of a guardian that should have looked at a call and gave no answer.
const failed = tool.ReviewFailed

// Surface is the way on which a person can be asked about a call.
type Surface string

// The surfaces.
const (
	Nobody Surface = "none"
	Code   Surface = "code"   // a person may agree later, elsewhere; the call is refused until then
	Person Surface = "person" // a person is in front of whoever made the call
)

// Outcome is what becomes of a call.
type Outcome string

// The outcomes, rising in strictness.
const (
	Run  Outcome = "run"
	Ask  Outcome = "ask"
	Deny Outcome = "deny"
)

// cell is an entry of the table: an Outcome, or needsGrant.
type cell = Outcome

const needsGrant cell = "grant" // it is refused unless a grant covers it

// cells rise in strictness.
var cells = [...]cell{Run, Ask, needsGrant, Deny}

// Case is what a decision depends on.
type Case struct {
	Origin tool.Origin
	// Risk is that of the action, or what a stage has found out about this call.
	Risk tool.Risk
	// Guardian is the mode of the guardian: off, monitor or enforce; empty means off. Verdict is the risk that it sees,
	// or "failed"; empty if it has not looked at the call. Threshold is the risk from which its verdicts have a person
	// asked in a conversation, tool.RiskHigh or tool.RiskMedium; empty means tool.RiskHigh.
	Guardian  string
	Verdict   tool.Risk
	Threshold tool.Risk
	Surface   Surface
	// Granted says that a grant of a person covers the call.
	Granted bool
	// MustAsk says that the action or a rule wants a person asked, whatever the risk.
	MustAsk bool
	// Clients says that the risk counts for the calls of MCP clients too (guard.clients).
	Clients bool
}

// Decision is an outcome and where it comes from.
type Decision struct {
	Outcome Outcome
	// Risk is the effective one: the higher of that of the call and that which a guardian that counts sees;
	// high for one that gave no answer.
	Risk tool.Risk
	// Rule is the cell that decided, such as "alone.high.chat", or what stands above the table: "must-ask", "granted" or
	// "unknown".
	Rule string
	// Unasked says that the call is refused for want of a person alone.
	Unasked bool
}

// Decide returns what becomes of a call. What it does not know, such as an origin or a risk, is refused.
func Decide(c Case) Decision {
	d := Decision{Outcome: Deny, Risk: effective(&c), Rule: "unknown"}
	name := tableOf(&c)
	t := tables()[name]
	if t == nil || !slices.Contains(risks[:], c.Risk) || !slices.Contains(verdicts[:], c.Verdict) {
		return d
	}
	var found cell
	for _, row := range rowsOf(&c, name, d.Risk) {
		of, ok := t.cells[row][c.Origin]
		if !ok {
			return d
		}
		if found == "" || stricter(of, found) {
			found, d.Rule = of, name+"."+row+"."+string(c.Origin)
		}
	}
	if c.MustAsk && found == Run {
		found, d.Rule = Ask, "must-ask"
	}
	switch {
	case found == Run:
		d.Outcome = Run
	case found != Deny && c.Granted && d.Risk != tool.RiskCritical:
		d.Outcome, d.Rule = Run, "granted"
	case found == Ask && (c.Surface == Person || c.Surface == Code):
		d.Outcome = Ask
	case found == Ask:
		d.Unasked = true
	}
	return d
}

// risks are what a call may have, rising; verdicts what a guardian may say of it.
var (
	risks    = [...]tool.Risk{tool.RiskNone, tool.RiskLow, tool.RiskMedium, tool.RiskHigh, tool.RiskCritical}
	verdicts = [...]tool.Risk{"", tool.RiskNone, tool.RiskLow, tool.RiskMedium, tool.RiskHigh, tool.RiskCritical, failed}
)

// reviewed reports whether the guardian looked at the call and what it says counts.
func reviewed(c *Case) bool {
	return c.Guardian == Enforce && c.Verdict != ""
}

// effective is the higher one of both risks. A guardian raises a risk and never lowers it; one that gave no answer counts as
// one that said high.
func effective(c *Case) tool.Risk {
	said := c.Verdict
	if said == failed {
		said = tool.RiskHigh
	}
	if reviewed(c) && slices.Index(risks[:], said) > slices.Index(risks[:], c.Risk) {
		return said
	}
	return c.Risk
}

// RiskCounts reports whether the risk of calls from origin makes a difference. Where it makes none, nobody has to
// find it out.
func RiskCounts(origin tool.Origin, clients bool) bool {
	return tableOf(&Case{Origin: origin, Clients: clients}) != "clients"
}

// tableOf names the table for a case; a threshold or a mode that is not known names none.
func tableOf(c *Case) string {
	if !c.Clients && (c.Origin == tool.MCPLocal || c.Origin == tool.MCPRemote) {
		return "clients"
	}
	switch c.Guardian {
	case "", off, monitor:
		return "alone"
	case Enforce:
		switch {
		case c.Verdict == "":
			return "alone"
		case c.Threshold == tool.RiskMedium:
			return "medium"
		case c.Threshold == "" || c.Threshold == tool.RiskHigh:
			return "high"
		}
	}
	return ""
}

// rowsOf are the rows that hold for a case. A critical verdict counts also where the call is critical by itself.
func rowsOf(c *Case, table string, risk tool.Risk) []string {
	switch {
	case table == "clients" || !reviewed(c):
	case c.Verdict == failed:
		return []string{string(failed), string(risk)}
	case c.Verdict == tool.RiskCritical:
		return []string{"guardian", string(risk)}
	}
	return []string{string(risk)}
}

func stricter(a, b cell) bool { return slices.Index(cells[:], a) > slices.Index(cells[:], b) }

// table is one of the tables of the file.
type table struct {
	name, about string
	origins     []tool.Origin
	rows        []string
	cells       map[string]map[tool.Origin]cell // by row
}

//go:embed table.txt
var file string

// tables are those of the file, by name.
var tables = sync.OnceValue(func() map[string]*table {
	all, err := parse(file)
	if err != nil {
		panic("decision: table.txt: " + err.Error()) // it is part of the program, and read by its tests
	}
	byName := make(map[string]*table, len(all))
	for _, t := range all {
		byName[t.name] = t
	}
	return byName
})

// parse reads the tables of text in their order. A comment in front of a table says what it is for.
func parse(text string) ([]*table, error) {
	var all []*table
	var t *table
	var about []string
	for i, line := range strings.Split(text, "\n") {
		comment, isComment := strings.CutPrefix(line, "#")
		words := strings.Fields(line)
		switch {
		case isComment:
			about = append(about, strings.TrimSpace(comment))
		case len(words) == 0:
			about = nil
		case words[0] == "table" && len(words) == 2:
			t = &table{name: words[1], about: strings.Join(about, " "), cells: map[string]map[tool.Origin]cell{}}
			all = append(all, t)
		case t == nil:
			return nil, fmt.Errorf("line %d: expected a table first", i+1)
		case t.origins == nil && words[0] == "risk":
			for _, w := range words[1:] {
				t.origins = append(t.origins, tool.Origin(w))
			}
		case len(words) != len(t.origins)+1 || t.cells[words[0]] != nil:
			return nil, fmt.Errorf("line %d: expected a row for each risk once, with %d cells", i+1, len(t.origins))
		default:
			row := map[tool.Origin]cell{}
			for k, w := range words[1:] {
				if !slices.Contains(cells[:], cell(w)) {
					return nil, fmt.Errorf("line %d: %q, expected run, ask, grant or deny", i+1, w)
				}
				row[t.origins[k]] = cell(w)
			}
			t.rows, t.cells[words[0]] = append(t.rows, words[0]), row
		}
	}
	return all, nil
}
