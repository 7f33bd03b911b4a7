package notebook_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestSetPermission(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	k.Origin = tool.Direct
	id, a := k.Notebook("A"), findAction(t, "set_permission")
	k.Levels[kernel.ID(id)] = access.None // a person may raise it from there
	r := k.Request(t, a, argsFor(`"permission":"rwd"`)(id))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if effect := a.Effect(r); !strings.Contains(effect, `"A"`) || !strings.Contains(effect, "from none to rwd") {
		t.Errorf("a person is asked: %s", effect)
	}
	got := k.Must(t, a, argsFor(`"permission":"rwd"`)(id))
	if got.Get("permission").String() != "rwd" || got.Get("previous").String() != "none" || k.Levels[kernel.ID(id)] != access.Delete {
		t.Errorf("set to %s, the result is %s", k.Levels[kernel.ID(id)], got.Raw)
	}
	k.Refused(t, a, argsFor(`"permission":"all"`)(id), tool.Invalid)
	k.Refused(t, a, argsFor(`"permission":"r"`)(actiontest.Nowhere), tool.NotFound)
}

// No caller but a person sets levels, so none can raise its own rights.
func TestSetPermissionRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	for _, origin := range []tool.Origin{tool.MCPLocal, tool.MCPRemote, tool.Chat, ""} {
		k.Origin = origin
		k.Refused(t, findAction(t, "set_permission"), argsFor(`"permission":"rwd"`)(id), tool.Denied)
	}
	if l, set := k.Levels[kernel.ID(id)]; set {
		t.Errorf("the level is %s", l)
	}
}
