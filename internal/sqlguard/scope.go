package sqlguard

import (
	"fmt"
	"strings"
)

// Scoped returns the statement to send if only the notebooks in boxes may be read. It is like [Statement.Limited], but
// sees only the rows of those notebooks. References to blocks in other notebooks are left out, since they would reveal
// those blocks. Errors are a *[Refused] with Scope true.
//
// Invalid ids in boxes are dropped.
func (s *Statement) Scoped(boxes []string, n int) (string, error) {
	if s.tables["stat"] {
		return "", outOfScope(
			"the table stat belongs to no notebook, and some notebook may not be read",
			"leave out stat")
	}
	if s.match {
		return "", outOfScope(
			"MATCH looks at the words of all notebooks, and some notebook may not be read",
			`use LIKE, or search(action="fulltext")`)
	}
	list := quoteBoxes(boxes)
	sent := s.shadowTables(n, maskExpressions(list), func(table string) string {
		rows := fmt.Sprintf("SELECT %s FROM main.%s WHERE box IN (%s)", maskedColumns(table, list), table, list)
		documents := fmt.Sprintf("(SELECT id FROM main.blocks WHERE type = 'd' AND box IN (%s))", list)
		switch table {
		case "attributes":
			rows += " AND name NOT IN ('" + strings.Join(boundAttributes, "', '") + "')"
		case "refs":
			rows += " AND def_block_root_id IN " + documents
		case "spans": // the tags of a document itself have no box
			rows += " OR box = '' AND root_id IN " + documents
		}
		return rows
	})
	// The same text, except that our own expressions read tables with names that the statement cannot use. It compiles
	// only if the statement reads nothing but these expressions.
	proof := s.shadowTables(n, "", func(table string) string { return "SELECT * FROM " + reservedPrefix + table })
	err := s.withScratch(schemaLayout{tables: reservedPrefix, indexes: reservedPrefix, flat: true}, func(c *scratchDB) error {
		stmt, err := s.compile(c, proof)
		if err != nil {
			return err
		}
		return joinRefusal(c.checkCost(proof), stmt.Finalize())
	})
	if err != nil {
		return "", outOfScope(
			"some notebook may not be read, and the statement cannot be narrowed to the others: "+err.Error(),
			`name tables without "main.", and use LIKE instead of MATCH, rank and rowid; search(action="fulltext") searches by words`)
	}
	return sent, nil
}

// shadowTables returns a statement in which an expression of the same name shadows each table that s may name.
// preceding is the SQL of expressions to put before those.
func (s *Statement) shadowTables(n int, preceding string, rows func(table string) string) string {
	var b strings.Builder
	b.WriteString("WITH " + preceding)
	for _, table := range tables() {
		if s.tables[table] && table != "stat" {
			fmt.Fprintf(&b, "%s AS MATERIALIZED (%s), ", table, rows(table))
		}
	}
	b.WriteString(s.limited(n))
	return b.String()
}

// quoteBoxes returns notebook ids as an SQL list.
func quoteBoxes(boxes []string) string {
	var list []string
	for _, box := range boxes {
		if !strings.ContainsFunc(box, func(r rune) bool { return r != '-' && (r > 0x7f || !inName(byte(r))) }) {
			list = append(list, "'"+box+"'")
		}
	}
	if len(list) == 0 {
		return "''"
	}
	return strings.Join(list, ",")
}
