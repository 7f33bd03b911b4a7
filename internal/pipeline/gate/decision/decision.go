// Package decision decides whether a call that the fixed rules allow runs, has to be confirmed by a person, or is
// refused. [Decide] is a pure function over the tables in table.txt, which are parsed at the first use.
package decision

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"collie/internal/tool"
)

// The modes of the guardian, the stage in which a second model reviews calls.
const (
	off     = "off"     // calls are not reviewed
	monitor = "monitor" // verdicts are only recorded
	Enforce = "enforce" // verdicts count
)

// failed is the verdict if a review failed.
const failed = tool.ReviewFailed

// Surface says how a person can be asked about a call.
type Surface string

// The surfaces.
const (
	Nobody Surface = "none"
	Code   Surface = "code"   // a person may confirm it later at a terminal; the call is refused until then
	Person Surface = "person" // the caller can show the question to a person
)

// Outcome says what happens to a call.
type Outcome string

// The outcomes, from the least to the most strict.
const (
	Run  Outcome = "run"
	Ask  Outcome = "ask"
	Deny Outcome = "deny"
)

// cell is an entry of a table: an Outcome, or needsGrant.
type cell = Outcome

const needsGrant cell = "grant" // refused unless a grant covers the call

// cells are all entries, from the least to the most strict.
var cells = [...]cell{Run, Ask, needsGrant, Deny}

// Case holds everything that a decision depends on.
type Case struct {
	Origin tool.Origin
	// Risk is the risk of the action, or of this call if a stage found out more.
	Risk tool.Risk
	// Guardian is the mode of the guardian: off, monitor or enforce; empty means off. Verdict is its verdict, empty if
	// the call was not reviewed. Threshold is the verdict from which a person is asked about calls of conversations:
	// tool.RiskHigh or tool.RiskMedium; empty means tool.RiskHigh.
	Guardian  string
	Verdict   tool.Risk
	Threshold tool.Risk
	Surface   Surface
	// Granted reports whether a grant covers the call.
	Granted bool
	// MustAsk reports whether the action or a rule requires that a person is asked, whatever the risk.
	MustAsk bool
	// Clients reports whether the risk counts for calls of MCP clients too (setting guard.clients).
	Clients bool
}

// Decision is an outcome with its reason.
type Decision struct {
	Outcome Outcome
	// Risk is the risk of the call, or the verdict of the guardian if that counts and is higher. A failed review counts
	// as high.
	Risk tool.Risk
	// Rule is the cell that decided, such as "alone.high.chat", or "must-ask", "granted" or "unknown", which override
	// the tables.
	Rule string
	// Unasked reports that the call is refused only because no person can be asked.
	Unasked bool
}

// Decide decides about a call. An unknown origin, risk, mode or threshold is refused.
func Decide(c Case) Decision {
	d := Decision{Outcome: Deny, Risk: effectiveRisk(&c), Rule: "unknown"}
	name := tableName(&c)
	t := tables()[name]
	if t == nil || !slices.Contains(risks[:], c.Risk) || !slices.Contains(verdicts[:], c.Verdict) {
		return d
	}
	var found cell
	for _, row := range rowNames(&c, name, d.Risk) {
		entry, ok := t.cells[row][c.Origin]
		if !ok {
			return d
		}
		if found == "" || isStricter(entry, found) {
			found, d.Rule = entry, name+"."+row+"."+string(c.Origin)
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

// risks are the risks of calls, rising; verdicts are the verdicts of the guardian.
var (
	risks    = [...]tool.Risk{tool.RiskNone, tool.RiskLow, tool.RiskMedium, tool.RiskHigh, tool.RiskCritical}
	verdicts = [...]tool.Risk{"", tool.RiskNone, tool.RiskLow, tool.RiskMedium, tool.RiskHigh, tool.RiskCritical, failed}
)

// hasVerdict reports whether the guardian reviewed the call and its verdict counts.
func hasVerdict(c *Case) bool {
	return c.Guardian == Enforce && c.Verdict != ""
}

// effectiveRisk returns the higher one of risk and verdict. A failed review counts as high.
func effectiveRisk(c *Case) tool.Risk {
	verdict := c.Verdict
	if verdict == failed {
		verdict = tool.RiskHigh
	}
	if hasVerdict(c) && slices.Index(risks[:], verdict) > slices.Index(risks[:], c.Risk) {
		return verdict
	}
	return c.Risk
}

// RiskCounts reports whether the risk of calls from origin can change the decision. If not, it need not be determined.
func RiskCounts(origin tool.Origin, clients bool) bool {
	return tableName(&Case{Origin: origin, Clients: clients}) != "clients"
}

// tableName returns the name of the table for a case, empty for an unknown mode or threshold.
func tableName(c *Case) string {
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

// rowNames returns the rows that apply to a case; the strictest entry decides. If the review failed or its verdict is critical,
// there is a row for that beside the one for the risk of the call.
func rowNames(c *Case, table string, risk tool.Risk) []string {
	switch {
	case table == "clients" || !hasVerdict(c):
	case c.Verdict == failed:
		return []string{string(failed), string(risk)}
	case c.Verdict == tool.RiskCritical:
		return []string{"guardian", string(risk)}
	}
	return []string{string(risk)}
}

func isStricter(a, b cell) bool { return slices.Index(cells[:], a) > slices.Index(cells[:], b) }

// table is one of the tables of the file.
type table struct {
	name, about string
	origins     []tool.Origin
	rows        []string
	cells       map[string]map[tool.Origin]cell // by row
}

//go:embed table.txt
var tableFile string

// tables returns the tables of the file by name.
var tables = sync.OnceValue(func() map[string]*table {
	all, err := parse(tableFile)
	if err != nil {
		panic("decision: table.txt: " + err.Error()) // cannot happen: the file is embedded and tested
	}
	byName := make(map[string]*table, len(all))
	for _, t := range all {
		byName[t.name] = t
	}
	return byName
})

// parse parses the tables of text, in their order. The comment before a table describes it.
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
