package guard

import (
	"errors"
	"fmt"
	"strings"
)

// mostScans is how many tables a statement may go through whole, one inside the other. Two is
// what a count per row takes; three means a cost that grows with the third power.
const mostScans = 2

// step is a line of SQLite's plan.
type step struct {
	id     int
	detail string
}

// affordable refuses a statement that goes through too many whole tables for each other's rows:
// a join without a condition that an index, or an equality, can serve.
func (c *scratch) affordable(sql string) error {
	stmt, _, err := c.conn.PrepareTransient("EXPLAIN QUERY PLAN " + sql)
	if err != nil {
		return refuse(sqliteFrame.ReplaceAllString(err.Error(), ""), "")
	}
	below := map[int][]step{}
	for {
		row, err := stmt.Step()
		if err != nil || !row {
			if err = errors.Join(err, stmt.Finalize()); err != nil {
				return fmt.Errorf("check SQL: %w", err)
			}
			break
		}
		parent := stmt.ColumnInt(1)
		below[parent] = append(below[parent], step{stmt.ColumnInt(0), stmt.ColumnText(3)})
	}
	if n := scans(below, 0); n > mostScans {
		return refuse(
			fmt.Sprintf("the statement reads %d whole tables once for every row of each other, and the kernel cannot stop it", n),
			"join tables with conditions like a.root_id = b.id")
	}
	return nil
}

// scans counts the whole tables that are gone through inside each other below a step. What
// depends on an outer row is inside; the rest is done once, beside it.
func scans(below map[int][]step, at int) int {
	here, inside, beside := 0, 0, 0
	for _, s := range below[at] {
		n := scans(below, s.id)
		switch {
		case strings.HasPrefix(s.detail, "SCAN ") && !strings.Contains(s.detail, "CONSTANT ROW") && !strings.Contains(s.detail, "VALUES"):
			here++
			beside = max(beside, n)
		case strings.HasPrefix(s.detail, "CORRELATED"):
			inside = max(inside, n)
		default:
			beside = max(beside, n)
		}
	}
	return max(here+inside, beside)
}
