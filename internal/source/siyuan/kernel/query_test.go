package kernel_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// noWaits, as [kernel.Options.Waits], switches the repetition of reads off.
var noWaits = []time.Duration{}

type nopCloser struct{ io.Reader }

func (nopCloser) Close() error { return nil }

func TestSQL(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k.URL(), kernel.Options{})
	k.Doc(k.Notebook("N"), "/It's 文档", "text")
	type row struct{ ID, Content string }
	rows, err := kernel.SQL[row](t.Context(), c, "SELECT DISTINCT id, content FROM blocks WHERE content = "+kernel.Quote("It's 文档")+" LIMIT 5")
	if err != nil || len(rows) != 1 || rows[0].Content != "It's 文档" || !kernel.ID(rows[0].ID).Valid() {
		t.Errorf("%v %v", rows, err)
	}
	if rows, err := kernel.SQL[row](t.Context(), c, "SELECT id FROM blocks WHERE id IN ("+kernel.QuoteIDs([]string{"x' OR '1'='1"})+") LIMIT 5"); err != nil || len(rows) != 0 {
		t.Errorf("%v %v", rows, err)
	}
	for _, wrong := range []string{"SELECT nosuch( LIMIT 1", "UPDATE blocks SET content = ''", "SELECT 1; SELECT 2", ""} {
		_, err := kernel.SQL[row](t.Context(), c, wrong)
		wantToolError(t, err, kernel.API)
	}
}

// TestSQLStaysReadOnly: the statement is sent without its mode only to a kernel that says that it does not know the
// mode, since without it a statement may write.
func TestSQLStaysReadOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code  int
		msg   string
		again bool
	}{
		{-1, "unknown [mode]", true},
		{1, "no such column: mode", false},
		{1, "near \"unknown [mode]\": syntax error", false},
		{1, "unknown [mode]", false},
		{-1, "SQL statement is not a read-only query", false},
		{-1, "This operation is not supported in read-only mode", false},
	} {
		var modes []string
		c := newClientOfHandler(t, func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			if r.URL.Path == flushPath {
				_, _ = io.WriteString(w, `{"code":0,"msg":"","data":null}`)
				return
			}
			modes = append(modes, gjson.GetBytes(raw, "mode").String())
			_, _ = fmt.Fprintf(w, `{"code":%d,"msg":%q,"data":null}`, tt.code, tt.msg)
		})
		if _, err := kernel.SQL[struct{}](t.Context(), c, "SELECT 1 LIMIT 1"); err == nil {
			t.Errorf("%q is not an error", tt.msg)
		}
		want := "readonly"
		if tt.again {
			want = "readonly,"
		}
		if got := strings.Join(modes, ","); got != want {
			t.Errorf("%q: modes %q, want %q", tt.msg, got, want)
		}
	}
}

func TestQuoteKeepsTextInside(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k.URL(), kernel.Options{})
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune(`ab'";-/*\% 文📝`))).Draw(rt, "text")
		rows, err := kernel.SQL[struct{ V string }](t.Context(), c, "SELECT "+kernel.Quote(text)+" AS v LIMIT 1")
		if err != nil || len(rows) != 1 || rows[0].V != text {
			rt.Fatalf("%q became %v (%v)", text, rows, err)
		}
	})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	seen := map[kernel.ID]bool{}
	for range 1000 {
		id := kernel.NewID()
		if !id.Valid() || seen[id] {
			t.Fatalf("%q", id)
		}
		seen[id] = true
	}
	for _, wrong := range []kernel.ID{
		"", "x", "20240101000000-abcdef", "20240101000000-abcdefgh", "20240101000000-ABCDEFG", "2024010100000-abcdefg",
		"20240101000000-abcdefg\n", " 20240101000000-abcdefg", "２0240101000000-abcdefg", "20240101000000-abcde'g",
	} {
		if wrong.Valid() {
			t.Errorf("%q counts as an id", wrong)
		}
	}
	if got := kernel.QuoteIDs([]kernel.ID{"20240101000000-abcdefg", "'; DROP", "20240101000000-abcdefh"}); got != "'20240101000000-abcdefg','20240101000000-abcdefh'" {
		t.Error(got)
	}
	if got := kernel.QuoteIDs([]kernel.ID{}); got != "''" {
		t.Error(got)
	}
}
