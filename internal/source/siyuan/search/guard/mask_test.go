package guard_test

import (
	"strings"
	"testing"

	"zombiezen.com/go/sqlite/sqlitex"
)

// TestScopedMasksDatabases: what databases show, and which of them have a block as a row, may be of a notebook that may
// not be read, though the block is in one that may.
func TestScopedMasksDatabases(t *testing.T) {
	t.Parallel()
	conn := database(t, false)
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
		sent, err := scoped(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		rows, err := run(t, conn, sent)
		if got := strings.Join(rows, "\n"); err != nil || strings.Contains(got, canary) || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q and no %s in\n%s", sql, err, want, canary, got)
		}
	}
}
