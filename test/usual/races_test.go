package usual_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// This file tests questions and grants when several things happen at the same time: answers, kills, other processes,
// expiry and changes of what the question is about.

// moveTurn is a turn of the model that moves a document.
func moveTurn(i int) provider.Turn {
	return callTurn("fs", map[string]any{"action": "mv", "from": fmt.Sprintf("/Box/Doc %d", i), "to": fmt.Sprintf("/Box/Moved %d", i)})
}

// newMoving returns a gateway whose model moves documents of notebook Box, one a turn, from /Box/Doc N to /Box/Moved N,
// and a conversation for that. members are further members of the settings.
func newMoving(t *testing.T, turns int, members string) (c *chatting, session string) {
	t.Helper()
	c = newChattingWith(t, `"siyuan":{}`+members)
	var titles []string
	var script []provider.Turn
	for i := range turns {
		titles = append(titles, fmt.Sprintf("Doc %d", i))
		script = append(script, moveTurn(i), provider.Turn{Say: "done"})
	}
	c.makeNotebook(t, "Box", titles...)
	c.setScript(t, script...)
	return c, c.beginSession(t)
}

// failIfAsked returns an answer function that fails the test if it is called.
func failIfAsked(t *testing.T) func(int64, gjson.Result) []string {
	return func(id int64, q gjson.Result) []string {
		t.Errorf("asked about %s", q.Raw)
		return []string{fmt.Sprintf(`{"id":%d,"result":{"confirm":false}}`, id)}
	}
}

// oneCallSucceeded reports whether a turn has made one call, and it succeeded.
func oneCallSucceeded(results []gjson.Result) bool {
	return len(results) == 1 && results[0].Get("ok").Bool()
}

// If a question gets a hundred answers, the first one counts, and the grants that the others choose are not made.
func TestManyAnswers(t *testing.T) {
	c, session := newMoving(t, 3, "")
	crowd := func(first func(q gjson.Result) string) func(int64, gjson.Result) []string {
		return func(id int64, q gjson.Result) (lines []string) {
			offers := q.Get("grants").Array()
			lines = []string{fmt.Sprintf(`{"id":%d,"result":%s}`, id, first(q))}
			for i := range 99 {
				answer := fmt.Sprintf(`{"confirm":true,"grant":%q}`, offers[i%len(offers)].Get("id").String())
				if i%3 == 0 {
					answer = `{"confirm":true}`
				}
				lines = append(lines, fmt.Sprintf(`{"id":%d,"result":%s}`, id, answer))
			}
			return lines
		}
	}
	if _, results := c.say(t, session, "move", crowd(func(gjson.Result) string { return `{"confirm":false}` })); oneCallSucceeded(results) || len(c.listGrants(t).Array()) > 0 {
		t.Errorf("after a no: %v, grants %s", results, c.listGrants(t).Raw)
	}
	if _, results := c.say(t, session, "move", crowd(func(gjson.Result) string { return `{"confirm":true,"grant":"gforged"}` })); oneCallSucceeded(results) || len(c.listGrants(t).Array()) > 0 {
		t.Errorf("after a forged grant: %v, grants %s", results, c.listGrants(t).Raw)
	}
	chosen := ""
	_, results := c.say(t, session, "move", crowd(func(q gjson.Result) string {
		chosen = q.Get("grants.2.id").String()
		return fmt.Sprintf(`{"confirm":true,"grant":%q}`, chosen)
	}))
	if all := c.listGrants(t).Array(); !oneCallSucceeded(results) || len(all) != 1 || all[0].Get("id").String() != chosen || all[0].Get("uses").Int() != 1 {
		t.Errorf("%v, chosen %s, grants %v", results, chosen, all)
	}
}

// A gateway that is killed while it asks a person has neither run the call nor kept a grant for it. An earlier grant
// still holds.
func TestKilledWhileAsking(t *testing.T) {
	c, session := newMoving(t, 4, "")
	if _, results := c.say(t, session, "move", agreeWithGrant("session", "notebook")); !oneCallSucceeded(results) {
		t.Fatalf("%v", results)
	}
	killed := false
	c.setScript(t, moveTurn(1), provider.Turn{Say: "done"})
	c.say(t, c.beginSession(t), "move", func(int64, gjson.Result) []string { // another conversation, which the grant does not cover
		killed = true
		c.Signal(syscall.SIGKILL)
		return nil
	})
	if !killed {
		t.Fatal("nobody was asked")
	}
	c.ExitCode()
	c.Gateway = c.ServeIn(t, c.Home, c.settings)
	if all := c.listGrants(t).Array(); len(all) != 1 || all[0].Get("constraint.kind").String() != "notebook" {
		t.Errorf("grants %v", all)
	}
	if list := runAction(t, c.Gateway, "fs/ls", map[string]any{"path": "/Box"}); strings.Contains(list.Raw, "Moved 1") || !strings.Contains(list.Raw, "Doc 1") {
		t.Errorf("it was moved: %s", list.Raw)
	}
}

// A grant that was made in one process can be revoked by another, also while a call waits for a person. Both are on
// record.
func TestRevokedByAnotherProcess(t *testing.T) {
	c, session := newMoving(t, 5, "")
	alone := filepath.Join(t.TempDir(), "other.json") // with other settings, commands do not use the gateway
	if err := os.WriteFile(alone, []byte(`{"siyuan":{"enabled":false}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	revoke := func(id, settings string) {
		t.Helper()
		if _, stderr, code := c.Run(t, c.Home, "grants", "revoke", id, "--config", settings); code != 0 {
			t.Fatalf("grants revoke: %s", stderr)
		}
	}
	c.say(t, session, "move", agreeWithGrant("session", "notebook"))
	if _, results := c.say(t, session, "move", failIfAsked(t)); !oneCallSucceeded(results) {
		t.Errorf("covered: %v", results)
	}
	id := c.listGrants(t).Get("0.id").String()
	if other := c.listGrantsWith(t, alone).Get("0.id").String(); id == "" || other != id {
		t.Fatalf("the gateway lists %q, the file %q", id, other)
	}
	revoke(id, alone) // in another process
	_, results := c.say(t, session, "move", agreeWithGrant("session", "notebook"))
	if all := c.listGrants(t).Array(); !oneCallSucceeded(results) || len(all) != 1 || all[0].Get("id").String() == id {
		t.Fatalf("%v, grants %v", results, all)
	}
	second := c.listGrants(t).Get("0.id").String()
	other := c.beginSession(t) // the grant does not cover this conversation
	c.setScript(t, moveTurn(3), provider.Turn{Say: "done"})
	_, results = c.say(t, other, "move", func(id int64, q gjson.Result) []string {
		revoke(second, c.settings)
		return agreeWithGrant("turn", "notebook")(id, q)
	})
	all := c.listGrants(t).Array()
	if !oneCallSucceeded(results) || len(all) != 1 || all[0].Get("scope").String() != "turn" {
		t.Errorf("%v, grants %v", results, all)
	}
	count := func() string { // records are written with a delay
		counted := map[string]int{}
		for _, r := range gateway.Records(t, c.Home) {
			switch r.Kind {
			case "grant":
				counted[map[bool]string{true: "given", false: "revoked"}[gjson.GetBytes(r.Detail, "given").Exists()]]++
			case "decision":
				counted["by "+gjson.GetBytes(r.Detail, "approver").String()]++
				if gjson.GetBytes(r.Detail, "grant").String() == "" {
					t.Errorf("a decision without its grant: %s", r.Detail)
				}
			}
		}
		return fmt.Sprint(counted)
	}
	await.Until(t, "all answers and grants are on record", func() bool { return count() == "map[by grant:1 by program:3 given:3 revoked:2]" }, count)
}

// A grant that has expired is not listed and covers nothing: the person is asked again.
func TestExpiredGrant(t *testing.T) {
	c, session := newMoving(t, 3, "")
	c.say(t, session, "move", agreeWithGrant("always", "notebook"))
	if _, results := c.say(t, session, "move", failIfAsked(t)); !oneCallSucceeded(results) {
		t.Errorf("covered: %v", results)
	}
	expires, err := time.Parse(time.RFC3339, c.listGrants(t).Get("0.expires").String())
	if err != nil || time.Until(expires) < 29*24*time.Hour || time.Until(expires) > 31*24*time.Hour {
		t.Errorf("a grant for high risk expires at %v: %v", expires, err)
	}
	conn, err := sqlite.OpenConn(filepath.Join(c.Home, "data", "collie.db"), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sqlitex.ExecuteTransient(conn, "UPDATE granted SET expires = 1", nil), conn.Close()); err != nil { // as if thirty days had passed
		t.Fatal(err)
	}
	if all := c.listGrants(t); len(all.Array()) > 0 {
		t.Errorf("an expired grant is listed: %s", all)
	}
	asked := false
	c.say(t, session, "move", func(id int64, _ gjson.Result) []string {
		asked = true
		return []string{fmt.Sprintf(`{"id":%d,"result":{"confirm":false}}`, id)}
	})
	if !asked {
		t.Error("nobody was asked about a call that only an expired grant covers")
	}
}

// A yes covers only what the person was shown. If another document has taken the place of the target meanwhile,
// nothing is moved, even if a grant for its notebook was chosen, and the grant is not kept.
func TestTargetChangesWhileAsking(t *testing.T) {
	c, session := newMoving(t, 2, "")
	for i, answer := range []func(int64, gjson.Result) []string{agreeWithGrant("once", ""), agreeWithGrant("session", "notebook")} {
		path := fmt.Sprintf("/Box/Doc %d", i)
		_, results := c.say(t, session, "move", func(id int64, q gjson.Result) []string {
			if out, stderr, code := c.Run(t, c.Home, "fs", "mv", path, fmt.Sprintf("/Box/Kept %d", i), "--yes", "--config", c.settings); code != 0 {
				t.Fatalf("fs mv: %s%s", out, stderr)
			}
			runAction(t, c.Gateway, "fs/write", map[string]any{"path": path, "markdown": "another one"})
			return answer(id, q)
		})
		if oneCallSucceeded(results) || !strings.Contains(fmt.Sprint(results), "state_changed") {
			t.Errorf("%s: %v", path, results)
		}
		if list := runAction(t, c.Gateway, "fs/ls", map[string]any{"path": "/Box"}).Raw; strings.Contains(list, "Moved") || strings.Count(list, path[len("/Box/"):]) == 0 {
			t.Errorf("%s: %s", path, list)
		}
	}
	if all := c.listGrants(t).Array(); len(all) > 0 {
		t.Errorf("grants %v", all)
	}
}
