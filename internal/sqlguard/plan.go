package sqlguard

import (
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// maxScans bounds how many full table scans a statement may nest. Counting something for each row takes two; with
// three, the cost grows with the cube of the number of rows.
const maxScans = 2

// planStep is a line of SQLite's plan.
type planStep struct {
	id     int
	detail string
}

// queryPlan is SQLite's plan for a statement.
type queryPlan struct {
	children map[int][]planStep
	// largest bounds, as a number of tables multiplied with each other, the rows of any intermediate result so far
	// that is scanned later.
	largest int
}

// checkCost refuses a statement that nests too many full scans: a join without a condition that an index, or an
// equality, can serve. sql comes from [Statement.limited].
func (s *scratchDB) checkCost(sql string) error {
	p, err := s.plan(sql)
	if err != nil {
		return err
	}
	maxCost := 0
	for _, top := range p.children[0] {
		if !top.isFullScan() { // our own expressions, which scan the returned rows
			maxCost = max(maxCost, p.scans(top.id))
		}
	}
	if maxCost > maxScans {
		return refuse(
			fmt.Sprintf("the statement reads %d whole tables once for every row of each other, and the kernel cannot stop it", maxCost),
			"join tables with conditions like a.root_id = b.id")
	}
	return nil
}

func (s *scratchDB) plan(sql string) (*queryPlan, error) {
	p := &queryPlan{children: map[int][]planStep{}, largest: 1}
	return p, s.lines("EXPLAIN QUERY PLAN "+sql, func(line *sqlite.Stmt) error {
		parent := line.ColumnInt(1)
		p.children[parent] = append(p.children[parent], planStep{line.ColumnInt(0), line.ColumnText(3)})
		return nil
	})
}

// scans returns the number of nested full scans below a step. What depends on an outer row counts as inside it; the
// rest runs once, beside it. The plan does not say which expression a step scans, so each may be the largest before
// it.
func (p *queryPlan) scans(at int) int {
	here, inside, beside := 0, 0, 0
	for _, s := range p.children[at] {
		n := p.scans(s.id)
		switch {
		case s.isFullScan():
			here += p.largest
			beside = max(beside, n)
		case s.hasPrefix("MULTI-INDEX OR"): // one loop, over what either index finds
			here += n
		case s.hasPrefix("CORRELATED"):
			inside = max(inside, n)
		case s.hasPrefix("MATERIALIZE"), s.hasPrefix("CO-ROUTINE"):
			p.largest = max(p.largest, n)
			beside = max(beside, n)
		default:
			beside = max(beside, n)
		}
	}
	return max(here+inside, beside)
}

func (s planStep) hasPrefix(word string) bool { return strings.HasPrefix(s.detail, word) }

// sharedColumns are columns with the same value in many rows: a search by them is hardly better than a full scan.
var sharedColumns = setOf("box type subtype sort")

// isFullScan reports whether a step scans a table, or so much of it that the cost is of the same order.
func (s planStep) isFullScan() bool {
	switch {
	case s.hasPrefix("SCAN "):
		return !strings.Contains(s.detail, "CONSTANT ROW") && !strings.Contains(s.detail, "VALUES")
	case s.hasPrefix("SEARCH "):
		_, terms, found := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(s.detail, " LEFT-JOIN"), ")"), "(")
		if !found { // the first or last entry of an index
			return false
		}
		for term := range strings.SplitSeq(terms, " AND ") {
			if column, equal := strings.CutSuffix(term, "=?"); equal && !sharedColumns[lower(column)] {
				return false
			}
		}
		return true
	}
	return false
}
