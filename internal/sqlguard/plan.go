package sqlguard

import (
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// This file refuses statements that would scan too much, by SQLite's own plan.

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
	// largest is an upper bound for the rows of any intermediate result so far that is scanned later, as a number of
	// tables multiplied with each other.
	largest int
}

// checkCost refuses a statement that nests more than maxScans full scans. They come from joins without a condition that
// an index, or an equality, can serve. sql comes from [Statement.limited].
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
	return p, s.eachInstruction("EXPLAIN QUERY PLAN "+sql, func(line *sqlite.Stmt) error {
		parent := line.ColumnInt(1)
		p.children[parent] = append(p.children[parent], planStep{line.ColumnInt(0), line.ColumnText(3)})
		return nil
	})
}

// scans returns the number of nested full scans below a step. A step that depends on an outer row runs inside of it;
// other steps run once. The plan does not say which intermediate result a step scans, so it may be the largest one so
// far.
func (p *queryPlan) scans(at int) int {
	own, inside, separate := 0, 0, 0
	for _, s := range p.children[at] {
		n := p.scans(s.id)
		switch {
		case s.isFullScan():
			own += p.largest
			separate = max(separate, n)
		case s.hasPrefix("MULTI-INDEX OR"): // one loop over the rows that either index finds
			own += n
		case s.hasPrefix("CORRELATED"):
			inside = max(inside, n)
		case s.hasPrefix("MATERIALIZE"), s.hasPrefix("CO-ROUTINE"):
			p.largest = max(p.largest, n)
			separate = max(separate, n)
		default:
			separate = max(separate, n)
		}
	}
	return max(own+inside, separate)
}

func (s planStep) hasPrefix(word string) bool { return strings.HasPrefix(s.detail, word) }

// sharedColumns have the same value in many rows: a search by one of them is hardly better than a full scan.
var sharedColumns = setOf("box type subtype sort")

// isFullScan reports whether a step scans a table, or enough of it that the cost is of the same order.
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
