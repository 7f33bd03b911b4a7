package sqlguard

import (
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// mostScans is how many tables a statement may go through whole, one inside the other. Two is
// what a count per row takes; three means a cost that grows with the third power.
const mostScans = 2

// step is a line of SQLite's plan.
type step struct {
	id     int
	detail string
}

// plan is how SQLite would carry a statement out.
type plan struct {
	below map[int][]step
	// largest is how many tables, multiplied with each other, have at most as many rows as what has been put together
	// so far and is gone through later.
	largest int
}

// affordable refuses a statement that goes through too many whole tables for each other's rows:
// a join without a condition that an index, or an equality, can serve. sql is written by [Statement.limited].
func (s *scratch) affordable(sql string) error {
	p, err := s.plan(sql)
	if err != nil {
		return err
	}
	most := 0
	for _, top := range p.below[0] {
		if !top.whole() { // those are ours, and go through the rows that are returned
			most = max(most, p.scans(top.id))
		}
	}
	if most > mostScans {
		return refuse(
			fmt.Sprintf("the statement reads %d whole tables once for every row of each other, and the kernel cannot stop it", most),
			"join tables with conditions like a.root_id = b.id")
	}
	return nil
}

func (s *scratch) plan(sql string) (*plan, error) {
	p := &plan{below: map[int][]step{}, largest: 1}
	return p, s.lines("EXPLAIN QUERY PLAN "+sql, func(line *sqlite.Stmt) error {
		parent := line.ColumnInt(1)
		p.below[parent] = append(p.below[parent], step{line.ColumnInt(0), line.ColumnText(3)})
		return nil
	})
}

// scans counts the whole tables that are gone through inside each other below a step. What
// depends on an outer row is inside; the rest is done once, beside it. The plan does not say which expression a step
// goes through, so each may be the largest before it.
func (p *plan) scans(at int) int {
	here, inside, beside := 0, 0, 0
	for _, s := range p.below[at] {
		n := p.scans(s.id)
		switch {
		case s.whole():
			here += p.largest
			beside = max(beside, n)
		case s.begins("MULTI-INDEX OR"): // one loop, over what either index finds
			here += n
		case s.begins("CORRELATED"):
			inside = max(inside, n)
		case s.begins("MATERIALIZE"), s.begins("CO-ROUTINE"):
			p.largest = max(p.largest, n)
			beside = max(beside, n)
		default:
			beside = max(beside, n)
		}
	}
	return max(here+inside, beside)
}

func (s step) begins(word string) bool { return strings.HasPrefix(s.detail, word) }

// shared are the columns that many rows have the same of: to look for those is hardly better than to read all.
var shared = setOf("box type subtype sort")

// whole reports whether a step goes through a table, or through so much of it that the cost is of the same kind.
func (s step) whole() bool {
	switch {
	case s.begins("SCAN "):
		return !strings.Contains(s.detail, "CONSTANT ROW") && !strings.Contains(s.detail, "VALUES")
	case s.begins("SEARCH "):
		_, terms, found := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(s.detail, " LEFT-JOIN"), ")"), "(")
		if !found { // the first or last entry of an index
			return false
		}
		for term := range strings.SplitSeq(terms, " AND ") {
			if column, equal := strings.CutSuffix(term, "=?"); equal && !shared[lower(column)] {
				return false
			}
		}
		return true
	}
	return false
}
