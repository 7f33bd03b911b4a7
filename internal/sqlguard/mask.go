package sqlguard

import (
	"fmt"
	"strings"
)

// This file hides text that SiYuan's index has copied from hidden notebooks into rows of readable ones.

// boundAttributes are the attributes of a block that list the databases in which it is a row, by id and by name.
var boundAttributes = []string{"custom-avs", "av-names"}

// The names of expressions that come before the tables if some notebook is hidden.
const (
	dynamicReferences = reservedPrefix + "followed"  // references whose anchor follows the text of their block
	collectingBlocks  = reservedPrefix + "collected" // blocks whose text was collected from elsewhere, and their containers
	maskedBlocks      = reservedPrefix + "veiled"    // blocks with an anchor that shows hidden text, and their containers
)

// maskExpressions returns the SQL of the expressions above. list has the notebooks that may be read.
//
// In the index, the text of a block includes the anchors of its references, and a dynamic anchor is the text of the
// block that it refers to. The text of an embedded query is what it found, and that of a database is from its rows. All
// of these may come from any notebook. Containers of such a block have its text too, and so do anchors of references to
// it.
func maskExpressions(list string) string {
	// The first "((" in a row's Markdown is the reference; marks may stand before it.
	const target = "substr(markdown, instr(markdown, '((') + 2, 22)"
	// A reference to a block that did not exist when it was written has no id, but still its anchor.
	dynamic := "box IN (" + list + ") AND instr(markdown, " + target + " || ' ''') + instr(markdown, '(( ''') > 0"
	return fmt.Sprintf(`RECURSIVE %[1]s(id, target) AS MATERIALIZED (`+
		`SELECT block_id, %[4]s FROM main.spans WHERE type LIKE '%%block-ref%%' AND %[5]s `+
		`UNION SELECT block_id, %[4]s FROM main.refs WHERE %[5]s), `+
		`%[2]s(id) AS MATERIALIZED (SELECT id FROM main.blocks WHERE box IN (%[6]s) `+
		`AND (type IN ('av', 'query_embed') OR type IN ('s', 'l', 'i', 'b', 'callout') AND instr(markdown, 'NodeAttributeView') > 0) `+
		`UNION SELECT b.parent_id FROM %[2]s AS c JOIN main.blocks AS b ON b.id = c.id JOIN main.blocks AS p ON p.id = b.parent_id AND p.type <> 'd'), `+
		`%[3]s(id) AS MATERIALIZED (`+
		`SELECT f.id FROM %[1]s AS f WHERE f.target IN (SELECT id FROM %[2]s) `+
		`OR NOT EXISTS (SELECT 1 FROM main.blocks AS b WHERE b.id = f.target AND b.box IN (%[6]s)) `+
		`UNION SELECT f.id FROM %[3]s AS v JOIN %[1]s AS f ON f.target = v.id `+
		`UNION SELECT b.parent_id FROM %[3]s AS v JOIN main.blocks AS b ON b.id = v.id JOIN main.blocks AS p ON p.id = b.parent_id AND p.type <> 'd'), `,
		dynamicReferences, collectingBlocks, maskedBlocks, target, dynamic, list)
}

// maskedColumns returns the columns of a table for a SELECT, with hidden text removed, if some notebook is hidden.
func maskedColumns(table, list string) string {
	names := columns(table)
	isIn := func(id string, sets ...string) string {
		var or []string
		for _, set := range sets {
			or = append(or, id+" IN (SELECT id FROM "+set+")")
		}
		return strings.Join(or, " OR ")
	}
	hide := func(name, where, instead string) string {
		return "CASE WHEN " + where + " THEN " + instead + " ELSE " + name + " END AS " + name
	}
	// Anchors of references to a hidden block, or to one that shows hidden text.
	markdown := table + ".markdown"
	target := "substr(" + markdown + ", instr(" + markdown + ", '((') + 2, 22)"
	shows := "instr(" + markdown + ", " + target + " || ' ''') + instr(" + markdown + ", '(( ''') > 0 AND (" + isIn(target, maskedBlocks, collectingBlocks) +
		" OR NOT EXISTS (SELECT 1 FROM main.blocks AS b WHERE b.id = " + target + " AND b.box IN (" + list + ")))"
	for i, name := range names {
		switch table + "." + name {
		case "blocks.content", "blocks.fcontent", "blocks_fts.content", "blocks_fts.fcontent":
			names[i] = hide(name, isIn("id", maskedBlocks, collectingBlocks), "''")
		case "blocks.markdown", "blocks.tag", "blocks.hash", "blocks_fts.markdown", "blocks_fts.tag", "blocks_fts.hash":
			names[i] = hide(name, isIn("id", maskedBlocks), "''")
		case "blocks.length", "blocks_fts.length":
			names[i] = hide(name, isIn("id", maskedBlocks, collectingBlocks), "0")
		case "blocks.ial", "blocks_fts.ial":
			names[i] = hide(name, fmt.Sprintf(`instr(ial, ' %s="') + instr(ial, ' %s="') > 0`, boundAttributes[0], boundAttributes[1]), `'{: id="' || id || '"}'`)
		case "refs.content", "refs.markdown":
			names[i] = hide(name, shows, "''")
		case "spans.content", "spans.markdown":
			names[i] = hide(name, "type LIKE '%block-ref%' AND "+shows, "''")
		}
	}
	return strings.Join(names, ", ")
}
