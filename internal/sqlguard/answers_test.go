package sqlguard_test

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/sqlguard"
	"collie/test/await"
)

// TestRecordedAnswers: both policies give the recorded answers. A line of answers.tsv is a statement, what becomes of it on
// its way to a kernel, and what the vault answers, each quoted as in Go.
func TestRecordedAnswers(t *testing.T) {
	t.Parallel()
	conn, r := connect(t, newVaultFile(t)), closeAfter(t, &sqlguard.Runner{})
	recorded, err := os.Open(filepath.Join("testdata", "answers.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer recorded.Close()
	n := 0
	for lines := bufio.NewScanner(recorded); lines.Scan(); n++ {
		if n%10 >= await.Fewer(10) {
			continue
		}
		var fields [3]string
		for i, field := range strings.Split(lines.Text(), "\t") {
			if fields[i], err = strconv.Unquote(field); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(fields[1], forKernel(fields[0])); diff != "" {
			t.Errorf("%q for a kernel: %s", fields[0], diff)
		}
		result, err := r.Select(conn, fields[0], 64)
		if diff := cmp.Diff(fields[2], inVault(result, err)); diff != "" {
			t.Errorf("%q in the vault: %s", fields[0], diff)
		}
	}
	if n < 800 {
		t.Errorf("only %d statements", n)
	}
}

func digest(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))[:8] }

func forKernel(sql string) string {
	s, err := sqlguard.Parse(sql)
	if r, refused := errors.AsType[*sqlguard.Refused](err); refused {
		return fmt.Sprintf("refused: %s (hint %s)", r.Message, digest(r.Hint))
	}
	if err != nil {
		return "error: " + err.Error()
	}
	sent := "sent " + digest(s.Limited(9))
	scoped, err := s.Scoped([]string{open}, 9)
	if r, refused := errors.AsType[*sqlguard.Refused](err); refused && r.Scope {
		return sent + fmt.Sprintf(", refused within a scope: %s (hint %s)", r.Message, digest(r.Hint))
	}
	if err != nil {
		return sent + ", error: " + err.Error()
	}
	return sent + ", within a scope " + digest(scoped)
}

func inVault(result sqlguard.Result, err error) string {
	if r, refused := errors.AsType[*sqlguard.Refused](err); refused {
		return fmt.Sprintf("refused: %s (write %v)", r.Message, r.Write)
	}
	if wrong, ok := errors.AsType[*sqlguard.Error](err); ok {
		return "error: " + wrong.Message
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("answered %q, %d rows", result.Columns, len(result.Rows))
}

// TestSchema: the tables are the ones that SiYuan's kernel declares.
func TestSchema(t *testing.T) {
	t.Parallel()
	declared, err := os.ReadFile(filepath.Join("testdata", "documented.sql"))
	if err != nil {
		t.Fatal(err)
	}
	conn, r := connect(t, newVaultFile(t)), closeAfter(t, &sqlguard.Runner{})
	for line := range strings.Lines(string(declared)) {
		line = strings.TrimSuffix(line, ";\n")
		result, err := r.Select(conn, "select sql from sqlite_master where sql = '"+strings.ReplaceAll(line, "'", "''")+"'", 0)
		if err != nil || len(result.Rows) != 1 {
			t.Errorf("%s: %d rows, %v", line, len(result.Rows), err)
		}
	}
}
