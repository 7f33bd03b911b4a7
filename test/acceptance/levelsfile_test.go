package acceptance_test

import (
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/gateway"
)

// sqlArgs is a query that works in every notebook that may be read.
const sqlArgs = `{"action":"query_sql","sql":"SELECT DISTINCT id, box, content FROM blocks WHERE type = 'd' LIMIT 20"}`

// TestMissingLevelsFile works in a workspace that has never seen Collie: SQL works, every
// notebook may be read, none written.
func TestMissingLevelsFile(t *testing.T) {
	t.Parallel()
	w := newBareWorld(t)
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, agrees)
		for _, n := range v.mustCall(t, "notebook", `{"action":"get_permissions"}`).Get("notebooks").Array() {
			if got := n.Get("permission").String(); got != "r" {
				t.Errorf("%s has level %s, want r", n.Get("name"), got)
			}
		}
		wantWords(t, "rows", v.mustCall(t, "search", sqlArgs).text, w.plan)
		v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`)
		got := v.wantRefused(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`, "permission_denied")
		wantWords(t, "the refusal", got.text, "collie siyuan permission set")
		v.wantRefused(t, "fs", `{"action":"rm","path":"/Work/Plan"}`, "permission_denied")
		w.wantNoWrites(t)
	})
}

// newBareWorld makes a world whose workspace has no files of Collie.
func newBareWorld(t *testing.T, members ...string) *world {
	t.Helper()
	w := &world{Kernel: kerneltest.New(t), Programs: gateway.LinkPrograms(t)}
	w.work = w.Notebook("Work")
	w.plan = w.Doc(w.work, "/Plan", "The first goal is tea.")
	w.settings = w.Settings(t, nil, w.siyuanSection(w.URL(), members...))
	return w
}

// TestCorruptLevelsFile refuses writes while the levels cannot be read, and reads too, as there
// has been no good copy of them.
func TestCorruptLevelsFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.File(ownFolder+levelsFile, []byte(`{"`))
	v := openSession(t, w.serve(t), modern, agrees)
	got := v.wantRefused(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`, "permission_unavailable")
	wantWords(t, "the refusal", got.text, levelsFile)
	v.wantRefused(t, "fs", `{"action":"read","path":"/`+hiddenWord+`/`+hiddenWord+` plan"}`, "permission_unavailable")
	w.wantNoWrites(t)
	w.writeLevels(map[string]string{w.work: "rwd", w.hidden: "none"})
	v.mustCall(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`)
}

// TestLevelsFileCorruptLater breaks the file after it was read once: reads go on with the good copy, writes are
// refused.
func TestLevelsFileCorruptLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := openSession(t, w.serve(t), legacy, agrees)
	v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`)
	w.File(ownFolder+levelsFile, []byte(`{"`))
	w.ResetCalls()
	v.wantRefused(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`, "permission_unavailable")
	v.mustCall(t, "fs", `{"action":"read","path":"/Work/Plan"}`)
	v.wantRefused(t, "fs", `{"action":"read","path":"/`+hiddenWord+`/`+hiddenWord+` plan"}`, "not_found")
	w.wantNoWrites(t)
}

// TestFileErrors reads files for which the kernel answers with each of its HTTP 202 errors. A
// missing file counts as empty, and no error is taken for content.
func TestFileErrors(t *testing.T) {
	t.Parallel()
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		w := newBareWorld(t)
		v := openSession(t, w.serve(t), modern, nobody)
		list := v.mustCall(t, "notebook", `{"action":"get_permissions"}`)
		if n := len(list.Get("notebooks").Array()); n != 1 { // not code, msg and data
			t.Errorf("%d notebooks: %s", n, list.text)
		}
		asked := false
		for _, c := range w.Calls() {
			asked = asked || c.Path == "/api/file/getFile"
		}
		if !asked {
			t.Error("no file was read")
		}
	})
	t.Run("a content that looks like an error", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t) // HTTP 200: this is a file, an odd one, that lists no notebook
		w.File(ownFolder+levelsFile, []byte(`{"code":404,"msg":"none","data":"none"}`))
		v := openSession(t, w.serve(t), legacy, nobody)
		list := v.mustCall(t, "notebook", `{"action":"get_permissions"}`)
		for _, n := range list.Get("notebooks").Array() {
			if n.Get("permission").String() != "r" {
				t.Errorf("%s", n)
			}
		}
		v.wantRefused(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`, "permission_denied")
	})
	t.Run("a folder in its place", func(t *testing.T) {
		t.Parallel()
		w := newBareWorld(t) // getFile answers 202 with another code than 404
		w.File(ownFolder+levelsFile+"/x", nil)
		v := openSession(t, w.serve(t), modern, agrees)
		v.wantRefused(t, "fs", `{"action":"write","path":"/Work/New","markdown":"x"}`, "permission_unavailable")
		w.wantNoWrites(t)
	})
}
