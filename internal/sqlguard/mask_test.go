package sqlguard_test

import (
	"strings"
	"testing"

	"zombiezen.com/go/sqlite/sqlitex"
)

// TestScopedMasksDatabases: a readable block may have the text of a database, or the names of databases in which it is a
// row, that belong to a hidden notebook.
func TestScopedMasksDatabases(t *testing.T) {
	t.Parallel()
	conn := openDatabase(t, false)
	if err := sqlitex.ExecuteScript(conn, `
INSERT INTO blocks (id, box, type, content, fcontent, markdown, ial) VALUES
	('table', '`+open+`', 'av', 'Table CANARY', '', '<div data-type="NodeAttributeView"></div>', '{: id="table"}'),
	('super', '`+open+`', 's', 'beside', 'Table CANARY', '{{{row <div data-type="NodeAttributeView"></div>', '{: id="super"}'),
	('row', '`+open+`', 'p', 'plain', 'first', 'plain', '{: id="row" av-names="&lt;CANARY&gt;" custom-avs="CANARY" memo="m"}'),
	('other', '`+open+`', 'p', 'plain custom-avs', 'first', 'plain', '{: id="other" memo="m"}');
INSERT INTO blocks_fts (rowid, id, box, type, content, fcontent, markdown, ial) SELECT rowid, id, box, type, content, fcontent, markdown, ial FROM blocks WHERE box = '`+open+`' AND id IN ('table', 'super', 'row');
INSERT INTO attributes (id, name, value, block_id, box) VALUES ('a1', 'custom-avs', 'CANARY', 'row', '`+open+`'), ('a2', 'av-names', 'CANARY', 'row', '`+open+`'), ('a3', 'memo', 'm', 'row', '`+open+`');
`, nil); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"select * from blocks":            "table",
		"select * from blocks_fts":        "table",
		"select * from attributes":        "memo",
		"select ial, content from blocks": "plain custom-avs",
		"select fcontent from blocks":     "first",
		"select ial from blocks b":        `{: id="other" memo="m"}`,
		"select count(*) || ' rows' from blocks where content like '%CANARY%' or fcontent like '%CANARY%' or ial like '%CANARY%'": "0 rows",
	} {
		sent, err := scopedSQL(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		rows, err := runSQL(t, conn, sent)
		if got := strings.Join(rows, "\n"); err != nil || strings.Contains(got, canary) || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q and no %s in\n%s", sql, err, want, canary, got)
		}
	}
}

// TestScopedMasksCopies: the results of an embedded query, and the anchor of a reference that follows its block, may be
// hidden text. So may the text of a block that contains such a block or refers to it.
func TestScopedMasksCopies(t *testing.T) {
	t.Parallel()
	conn := openDatabase(t, false)
	const (
		hiddenID, dynID, seenID, secondID = "20260101000000-hidden1", "20260101000000-dynamic", "20260101000000-visible", "20260101000000-second1"
	)
	if err := sqlitex.ExecuteScript(conn, `
DELETE FROM blocks; DELETE FROM spans; DELETE FROM refs;
INSERT INTO blocks (id, parent_id, root_id, box, type, content, fcontent, markdown, tag, hash, length) VALUES
	('`+hiddenID+`', 'hdoc', 'hdoc', 'elsewhere', 'p', 'CANARY', '', 'CANARY', '', '', 6),
	('doc', '', 'doc', '`+open+`', 'd', 'the title', 'the title', '', '', '', 9),
	('embed', 'super', 'doc', '`+open+`', 'query_embed', 'found CANARY', 'CANARY', '{{select 1}}', '', '', 12),
	('super', 'doc', 'doc', '`+open+`', 's', 'found CANARY', 'CANARY', '{{{row', '', '', 12),
	('`+dynID+`', 'quote', 'doc', '`+open+`', 'p', 'see CANARY', '', 'see ((`+hiddenID+` ''CANARY''))', '#CANARY#', 'CANARY', 10),
	('quote', 'doc', 'doc', '`+open+`', 'b', 'see CANARY', 'see CANARY', '> see ((`+hiddenID+` ''CANARY''))', '#CANARY#', '', 10),
	('`+secondID+`', 'doc', 'doc', '`+open+`', 'p', 'at see CANARY', '', 'at ((`+dynID+` ''see CANARY''))', '', '', 10),
	('`+seenID+`', 'doc', 'doc', '`+open+`', 'p', 'plain text', '', 'plain ((doc ''the title'')) text', '#mine#', 'abc', 10),
	('lost', 'doc', 'doc', '`+open+`', 'p', 'was CANARY', '', 'was (( ''CANARY''))', '', '', 10),
	('static', 'doc', 'doc', '`+open+`', 'p', 'my own words', '', '((`+hiddenID+` "my own words"))', '', '', 10);
INSERT INTO spans (id, block_id, root_id, box, content, markdown, type) VALUES
	('s1', '`+dynID+`', 'doc', '`+open+`', 'CANARY', '**((`+hiddenID+` ''CANARY''))**', 'textmark strong block-ref'),
	('s2', '`+secondID+`', 'doc', '`+open+`', 'see CANARY', '((`+dynID+` ''see CANARY''))', 'textmark block-ref'),
	('s0', 'lost', 'doc', '`+open+`', 'CANARY', '(( ''CANARY''))', 'textmark block-ref'),
	('s3', 'static', 'doc', '`+open+`', 'my own words', '((`+hiddenID+` "my own words"))', 'textmark block-ref'),
	('s4', '`+seenID+`', 'doc', '`+open+`', 'strong words', '**strong words**', 'textmark strong');
INSERT INTO refs (id, block_id, root_id, box, def_block_id, def_block_root_id, content, markdown) VALUES
	('r0', 'lost', 'doc', '`+open+`', '', 'doc', 'CANARY', '(( ''CANARY''))'),
	('r1', '`+dynID+`', 'doc', '`+open+`', '`+hiddenID+`', 'hdoc', 'CANARY', '((`+hiddenID+` ''CANARY''))'),
	('r2', '`+secondID+`', 'doc', '`+open+`', '`+dynID+`', 'doc', 'see CANARY', '((`+dynID+` ''see CANARY''))');
INSERT INTO blocks_fts (rowid, id, box, type, content, fcontent, markdown, tag) SELECT rowid, id, box, type, content, fcontent, markdown, tag FROM blocks;
`, nil); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"select * from blocks":     "plain text",
		"select * from blocks_fts": "my own words",
		"select * from spans":      "strong words",
		"select * from refs":       dynID,
		"select b.content from blocks b join spans s on s.block_id = b.id":                                                                  "my own words",
		"select count(*) || ' rows' from blocks where content like '%CANARY%' or fcontent like '%c%a%n%a%r%y%' or markdown like '%CANARY%'": "0 rows",
		"select count(*) || ' rows' from blocks where length > 10":                                                                          "0 rows",
		"select content, tag, hash from blocks where id = '" + seenID + "'":                                                                 "#mine#",
	} {
		sent, err := scopedSQL(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		rows, err := runSQL(t, conn, sent)
		if got := strings.Join(rows, "\n"); err != nil || strings.Contains(got, canary) || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q and no %s in\n%s", sql, err, want, canary, got)
		}
	}
}
