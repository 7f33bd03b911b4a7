package document_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestMove(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("A"), k.Notebook("B")
	to := k.Doc(nb, "/To", "")
	a, b := k.Doc(nb, "/P/a", ""), k.Doc(nb, "/b", "")
	got := k.Must(t, findAction(t, "move"), args("fromIDs", []string{a, b}, "toID", to))
	if hpathOf(t, k, a) != "/To/a" || hpathOf(t, k, b) != "/To/b" || got.Get("paths.1").String() != "/"+to+"/"+b+".sy" {
		t.Errorf("moved below a document: %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "move"), args("fromIDs", []string{a}, "toID", other))
	if got.Get("notebook").String() != other || got.Get("paths.0").String() != storagePathOf(a) {
		t.Errorf("moved to a notebook: %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "move"), args("fromPaths", []string{storagePathOf(a)}, "toNotebook", nb, "toPath", storagePathOf(to)))
	if got.Get("toID").String() != to || hpathOf(t, k, a) != "/To/a" {
		t.Errorf("moved by paths: %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "move"), args("fromPaths", []string{"/" + to + "/" + a + ".sy"}, "toNotebook", nb, "toPath", "/"))
	if hpathOf(t, k, a) != "/a" {
		t.Errorf("moved to the top: %s", got.Raw)
	}
}

// Documents below a moved document come along, even if the call names them too.
func TestMoveWithBelow(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("A"), k.Notebook("B")
	up, down, beside := k.Doc(nb, "/Up", ""), k.Doc(nb, "/Up/x/down", ""), k.Doc(nb, "/beside", "")
	got := k.Must(t, findAction(t, "move"), args("fromIDs", []string{down, beside, up}, "toID", other))
	if hpathOf(t, k, down) != "/Up/x/down" || got.Get("count").Int() != 3 || got.Get("notebook").String() != other {
		t.Errorf("moved %s", got.Raw)
	}
	for i, want := range []string{"/" + up + "/", storagePathOf(beside), storagePathOf(up)} {
		if at := got.Get("paths").Array()[i].String(); !strings.HasPrefix(at, want) {
			t.Errorf("path %d is %s, want %s", i, at, want)
		}
	}
	got = k.Must(t, findAction(t, "move"), args("fromPaths", []string{storagePathOf(beside)}, "toNotebook", nb, "toPath", storagePathOf(nb))) // its page
	if got.Get("toID").String() != nb || hpathOf(t, k, beside) != "/beside" {
		t.Errorf("moved to the page of a notebook: %s", got.Raw)
	}
}

func TestMoveRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	up := k.Doc(nb, "/Up", "")
	down := k.Doc(nb, "/Up/down", "")
	for _, c := range []struct {
		kind tool.ErrorKind
		call string
	}{
		{tool.Conflicting, args("fromIDs", []string{up}, "toID", up)},
		{tool.Conflicting, args("fromIDs", []string{up}, "toID", down)}, // the kernel would report success and do nothing
		{tool.Conflicting, args("fromIDs", []string{up})},
		{tool.Conflicting, args("fromIDs", []string{up}, "toNotebook", nb, "toPath", "/")},
		{tool.Conflicting, args("fromPaths", []string{storagePathOf(up)}, "toNotebook", nb)},
		{tool.NotFound, args("fromIDs", []string{up}, "toID", actiontest.Nowhere)},
		{tool.NotFound, args("fromPaths", []string{storagePathOf(up)}, "toNotebook", nb, "toPath", storagePathOf(actiontest.Nowhere))},
		{tool.Invalid, args("fromIDs", []string{nb}, "toID", up)},
	} {
		k.Refused(t, findAction(t, "move"), c.call, c.kind)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
}

func TestMoveGuarded(t *testing.T) {
	t.Parallel()
	open := func(k *actiontest.Kit) string { return k.Doc(k.Notebook("Open"), "/O", "") }
	checkGuarded(t, "move", access.Write, func(k *actiontest.Kit, nb string) (string, []string) {
		id := k.Doc(nb, "/D", "")
		return args("fromIDs", []string{id}, "toID", open(k)), []string{id}
	}, func(k *actiontest.Kit) string { return args("fromIDs", []string{actiontest.Nowhere}, "toID", open(k)) })
	checkGuarded(t, "move", access.Write, func(k *actiontest.Kit, nb string) (string, []string) {
		id := k.Doc(nb, "/D", "")
		return args("fromIDs", []string{open(k)}, "toID", id), []string{id}
	}, func(k *actiontest.Kit) string { return args("fromIDs", []string{open(k)}, "toID", actiontest.Nowhere) })
	checkGuarded(t, "move", access.Write, func(k *actiontest.Kit, nb string) (string, []string) {
		return args("fromIDs", []string{open(k)}, "toID", nb), []string{nb}
	}, func(k *actiontest.Kit) string { return args("fromIDs", []string{open(k)}, "toID", actiontest.Nowhere) })
}

// The kernel sometimes reports success and does nothing. The result says so.
func TestMoveNothingDone(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	a, b := k.Doc(nb, "/a", ""), k.Doc(nb, "/b", "")
	k.Client = kernel.New(k.URL(), kernel.Options{Transport: fakeSuccess("/api/filetree/moveDocsByID")})
	t.Cleanup(k.Client.Close)
	k.Refused(t, findAction(t, "move"), args("fromIDs", []string{a}, "toID", b), kernel.Mismatch)
}
