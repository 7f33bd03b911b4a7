package action_test

import (
	"errors"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

// TestMissingPathsAreHelped: the error for a mistyped path says how much of it exists and what is similar, and
// nothing about hidden things.
func TestMissingPathsAreHelped(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, hidden := makeNotebook(t, kit, "Work"), makeNotebook(t, kit, "Private")
	makeNotebook(t, kit, "工作笔记")
	makeDocument(t, kit, work, "/Plan/Risks")
	makeDocument(t, kit, work, "/a%2Fb c")
	makeDocument(t, kit, hidden, "/Diary")
	kit.Levels[hidden] = access.None
	const root = `fs(action="ls", path="/") shows what there is`
	in := func(folder string) string { return `fs(action="ls", path="` + folder + `") shows what is there` }
	for path, want := range map[string]string{
		"/Work/Plam":            `did you mean "/Work/Plan"? ` + in("/Work"),
		"/Work/plan":            `did you mean "/Work/Plan"? ` + in("/Work"),
		"/Work/Plan/Risk/a":     `did you mean "/Work/Plan/Risks"? ` + in("/Work/Plan"),
		"/Work/Plan/第一":         in("/Work/Plan"),
		"/work/plan":            `did you mean "/Work"? ` + root,
		"/工作笔计/x":               `did you mean "/工作笔记"? ` + root,
		"/Nowhere":              root,
		"/Private/Diary":        root,
		"/Privat/Diary":         root,
		"/Work/Private/Diary":   in("/Work"),
		"/Work/Plan/Risks/Deep": in("/Work/Plan/Risks"),
	} {
		r := kit.Request(t, resolvingAction(action.OnPath(access.Read, "path")), pathArg(t, path))
		_, err := r.Resolve(t.Context(), path)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Kind != tool.NotFound || e.Hint != want {
			t.Errorf("%s: %v, want the hint %s", path, err, want)
			if ok {
				t.Logf("got %s", e.Hint)
			}
		}
	}
}
