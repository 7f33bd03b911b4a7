package sqlguard_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqlguard"
)

// TestScopedHidesWhatAKernelIndexed: nothing hidden is shown of the index of a real kernel whose readable notes embed,
// refer to and show hidden text. Words of the hidden notebook are zqh, a word for what they are, and a number.
func TestScopedHidesWhatAKernelIndexed(t *testing.T) {
	t.Parallel()
	conn, open := recordedIndex(t)
	words := regexp.MustCompile(`(?i)zqh[a-z]+[0-9]`)
	for sql, want := range map[string]string{
		"SELECT * FROM blocks":     "plain readable words",
		"SELECT * FROM blocks_fts": "plain readable words",
		"SELECT * FROM attributes": `value=m`,
		"SELECT * FROM refs":       "def_block_id",
		"SELECT * FROM spans":      "mine",
		"SELECT * FROM assets":     "",
		"SELECT count(*) || ' found' AS n FROM blocks WHERE content || fcontent || markdown || tag || name || memo || ial GLOB '*[zZ]qh[a-z]*[0-9]*' AND markdown NOT LIKE '{{%'": "0 found",
		"SELECT content FROM blocks WHERE type = 'd'":                  "Refs",
		"SELECT id, type, length FROM blocks WHERE type='query_embed'": "query_embed",
	} {
		statement, err := sqlguard.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		sent, err := statement.Scoped([]string{open}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := runSQL(t, conn, sent)
		text := strings.Join(rows, "\n")
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v, want %q in\n%s", sql, err, want, text)
		}
		for _, word := range words.FindAllString(text, -1) {
			t.Errorf("%s shows %s", sql, word)
		}
	}
}

// recordedIndex returns a database with the tables of the recording, and the id of the readable notebook.
func recordedIndex(t *testing.T) (conn *sqlite.Conn, open string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "source", "siyuan", "hidden", "testdata", "canaries.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	conn = openDatabase(t, false)
	leaks := 0
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := gjson.ParseBytes(lines.Bytes())
		if id := line.Get("ids.open"); id.Exists() {
			open = id.Str
		}
		table, whole := strings.CutSuffix(strings.TrimPrefix(line.Get("reqBody.stmt").Str, "SELECT * FROM "), " LIMIT 5000")
		if !whole || !slices.Contains(sqlguard.Tables(), table) {
			continue
		}
		if err := sqlitex.ExecuteTransient(conn, "DELETE FROM "+table, nil); err != nil {
			t.Fatal(err)
		}
		var rows []map[string]any
		if err := json.Unmarshal([]byte(line.Get("respBody.data").Raw), &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			var names, marks []string
			var args []any
			for name, value := range row {
				names, marks, args = append(names, name), append(marks, "?"), append(args, value)
			}
			insert := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.Join(marks, ", "))
			if err := sqlitex.ExecuteTransient(conn, insert, &sqlitex.ExecOptions{Args: args}); err != nil {
				t.Fatal(err)
			}
			if row["box"] == open && strings.Contains(fmt.Sprint(row["content"]), "zqhchanged2") {
				leaks++
			}
		}
	}
	if leaks < 10 {
		t.Fatalf("only %d rows of readable notes in the recording show what is hidden: it is not one that leaks", leaks)
	}
	if err := sqlitex.ExecuteTransient(conn, "INSERT INTO blocks_fts (blocks_fts) VALUES ('rebuild')", nil); err != nil {
		t.Fatal(err)
	}
	return conn, open
}
