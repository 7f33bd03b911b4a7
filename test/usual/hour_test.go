package usual_test

import (
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/fakellm/provider"
)

// TestHourOfChat has a conversation write for an hour, in sixty turns, in two notebooks with level rw and without the
// guardian. It raises at most five questions, and each one offers a grant that covers similar calls that follow.
func TestHourOfChat(t *testing.T) {
	c := newChatting(t)
	work := c.makeNotebook(t, "Work", "Plans", "Tea", "Inbox", "A", "B", "C", "D", "读书笔记")
	diary := c.makeNotebook(t, "Diary", "Monday", "Tuesday", "Trip")
	runAction(t, c.Gateway, "fs/write", map[string]any{"path": "/Work/Done", "markdown": "what is done"})
	block := func(content string) string {
		return firstBlock(t, c.Gateway, fmt.Sprintf("type='p' AND content='%s'", content))
	}
	doc := func(title string) string {
		return firstBlock(t, c.Gateway, fmt.Sprintf("type='d' AND content='%s'", title))
	}
	plans, tea, trip := doc("Plans"), doc("Tea"), doc("Trip")
	type args = map[string]any
	var steps []provider.Turn
	add := func(tool string, a args) { steps = append(steps, callTurn(tool, a)) }
	fs := func(action string, a args) {
		a["action"] = action
		add("fs", a)
	}
	for i := range 10 { // new documents
		fs("write", args{"path": fmt.Sprintf("/Work/Note %d", i), "markdown": fmt.Sprintf("# Note %d\n\nsome words\n\n- [ ] one\n- [ ] two", i)})
		fs("replace", args{"path": fmt.Sprintf("/Work/Note %d", i), "edit": args{"old": "some words", "new": "better words"}})
	}
	for i := range 12 { // further text in the same documents
		add("block", args{"action": "append", "dataType": "markdown", "data": fmt.Sprintf("line %d", i), "parentID": []string{plans, tea, trip}[i%3]})
	}
	for i := range 6 {
		add("block", args{"action": "add_to_daily_note", "notebook": diary, "dataType": "markdown", "data": fmt.Sprintf("记下 %d", i), "position": "append"})
	}
	for _, title := range []string{"A", "B", "C", "D"} { // overwritten documents
		fs("write", args{"path": "/Work/" + title, "markdown": "all of it new", "overwrite": true})
	}
	add("block", args{"action": "update", "id": block("first words of Tea"), "dataType": "markdown", "data": "green tea"})
	add("block", args{"action": "set_attrs", "id": plans, "attrs": args{"custom-a": "b"}})
	add("document", args{"action": "create", "notebook": work, "path": "/新文档", "markdown": "正文"})
	add("document", args{"action": "create_daily_note", "notebook": diary})
	add("document", args{"action": "rename", "id": trip, "title": "Trip to 杭州"})
	add("document", args{"action": "duplicate", "id": tea})
	for _, title := range []string{"A", "B", "C", "D", "Note 1", "Note 2"} { // moved documents
		fs("mv", args{"from": "/Work/" + title, "to": "/Work/Done/" + title})
	}
	fs("mv", args{"from": "/Diary/Monday", "to": "/Diary/Monday, at last"})
	add("block", args{"action": "move", "id": block("last words of Plans"), "parentID": plans})
	add("block", args{"action": "move", "id": block("last words of Tea"), "parentID": tea})
	add("block", args{"action": "move", "id": block("last words of Inbox"), "previousID": block("first words of Plans")})
	add("document", args{"action": "move", "fromIDs": []string{doc("Inbox")}, "toID": plans})
	add("document", args{"action": "move", "fromIDs": []string{doc("读书笔记")}, "toID": plans})
	for len(steps) < 60 {
		fs("read", args{"path": "/Work/Plans"})
	}
	asked, turns, session := 0, 0, ""
	for i := range steps {
		if i%20 == 0 { // three conversations, because here an hour takes seconds and each conversation has a limit of calls a minute
			var script []provider.Turn
			for _, s := range steps[i:min(i+20, len(steps))] {
				script = append(script, s, provider.Turn{Say: "done"})
			}
			c.setScript(t, script...)
			session = c.beginSession(t)
		}
		end, results := c.say(t, session, fmt.Sprintf("write on, %d", i), func(id int64, q gjson.Result) []string {
			asked++
			t.Logf("turn %d: asked about %s.%s", i, q.Get("tool"), q.Get("action"))
			if !q.Get(`grants.#(scope=="always")#|#(kind=="notebook")`).Exists() {
				t.Errorf("turn %d: no grant for the notebook is offered: %s", i, q.Raw)
			}
			return agreeWithGrant("always", "notebook")(id, q)
		})
		if turns++; end.Get("state").String() != "done" || len(results) != 1 || !results[0].Get("ok").Bool() {
			t.Fatalf("turn %d, %s: %s, %v", i, steps[i].Call[0].Args, end.Get("state"), results)
		}
	}
	if turns != 60 || asked > 5 {
		t.Errorf("%d questions in %d turns, want at most 5 in 60", asked, turns)
	}
	var uses int64
	for _, g := range c.listGrants(t).Array() {
		uses += g.Get("uses").Int()
	}
	if uses != 12 {
		t.Errorf("the grants were used %d times, want once for each of the 12 calls of high risk", uses)
	}
	t.Logf("%d turns, %d questions, %d calls covered", turns, asked, uses)
}
