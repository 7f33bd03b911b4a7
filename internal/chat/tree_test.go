package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
	"collie/test/await"
)

// obeyingEngine returns an engine that does what words in the last message say: call, forget (the results of calls), sum (summarize),
// fail or wait. It fails the test if the path is not in order.
func obeyingEngine(t *testing.T) engineFunc {
	return func(ctx context.Context, turn *chat.Turn, s chat.Sink) (chat.Outcome, error) {
		if err := checkOrder(turn.Path); err != nil {
			t.Error(err)
		}
		last := turn.Path[len(turn.Path)-1].Parts
		what := last[len(last)-1].Text
		s.Emit(0, llm.Event{Kind: llm.EventText, Text: "about " + what})
		if strings.Contains(what, "call") {
			for _, id := range []string{"a", "b"} {
				id += turn.ID
				s.Proposed(0, chat.ToolCall{ID: id, Name: "files__write", Args: json.RawMessage(`{"path":"x"}`)})
				if err := s.Executing(ctx, id); err != nil {
					return chat.Outcome{}, err
				}
				if !strings.Contains(what, "forget") {
					s.Answered(id, chat.CallDone, llm.Part{Text: "written"}, 1)
				}
			}
			s.Emit(1, llm.Event{Kind: llm.EventText, Text: "done"})
		}
		if strings.Contains(what, "sum") && len(turn.Path) > 2 {
			if _, err := s.Summarize(ctx, 1, "what was said"); err != nil && kindOf(err) != tool.Invalid {
				t.Error(err)
			}
		}
		if strings.Contains(what, "fail") {
			return chat.Outcome{}, errors.New("as told")
		}
		if strings.Contains(what, "wait") {
			<-ctx.Done()
			return chat.Outcome{}, context.Cause(ctx)
		}
		return chat.Outcome{Finish: llm.FinishStop, Steps: 1}, nil
	}
}

// checkOrder returns an error unless each call has exactly one result, in the message right after it.
func checkOrder(path []llm.Message) error {
	if path[len(path)-1].Role != llm.RoleUser {
		return fmt.Errorf("the path ends with %s", path[len(path)-1].Role)
	}
	for i, m := range path {
		var asked, answered []string
		for _, p := range m.Parts {
			if p.Kind == llm.PartToolCall {
				asked = append(asked, p.Call)
			}
		}
		if i+1 < len(path) {
			for _, p := range path[i+1].Parts {
				if p.Kind == llm.PartToolResult {
					answered = append(answered, p.Call)
				}
			}
		}
		if !slices.Equal(asked, answered) {
			return fmt.Errorf("message %d asks for %v, the next one answers %v", i, asked, answered)
		}
	}
	return nil
}

// TestTreeStaysATree makes random changes to sessions and checks the invariants in wrongQueries after each. The database is opened
// again after every hundred runs. -rapid.checks=10000 makes more runs.
func TestTreeStaysATree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openService(t, dir, obeyingEngine(t))
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		if runs++; runs%100 == 0 {
			p.closeNow()
			p = openService(t, dir, obeyingEngine(t))
		}
		g := &randomChanger{testService: p, rt: rt, session: p.createSession()}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			g.changeRandomly()
		}
		g.checkInvariants()
		g.checkCopies()
		if err := p.Delete(t.Context(), g.session, true); err != nil {
			rt.Fatal(err)
		}
	})
	var left int64
	err := p.store.Read(t.Context(), func(tx *store.Tx) error {
		for _, table := range []string{"message", "part", "call", "message_text", "summary", "turn"} {
			n, _ := tx.Number("SELECT count(*) FROM " + table)
			left += n
		}
		return nil
	})
	if err != nil || left != 0 {
		t.Errorf("%d rows of sessions that were deleted stay, %v", left, err)
	}
	if problems, err := p.store.Check(t.Context()); err != nil || problems != nil {
		t.Errorf("check: %v %v", problems, err)
	}
}

// randomChanger makes random changes to one session.
type randomChanger struct {
	*testService
	rt      *rapid.T
	session string
}

// randomMessage returns a random message of the session, or none.
func (g *randomChanger) randomMessage() (id, role string) {
	var all [][2]string
	err := g.store.Read(g.t.Context(), func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			all = append(all, [2]string{r.ColumnText(0), r.ColumnText(1)})
			return true
		}, "SELECT id, role FROM message WHERE session = ? AND deleted = 0 AND role <> 'root' ORDER BY n", g.session)
		return nil
	})
	if err != nil {
		g.rt.Fatal(err)
	}
	if len(all) == 0 {
		return "", ""
	}
	one := all[rapid.IntRange(0, len(all)-1).Draw(g.rt, "message")]
	return one[0], one[1]
}

// mayRefuse fails the run if err is an error of another kind than those with which the service refuses a request.
func (g *randomChanger) mayRefuse(err error) {
	if kind := kindOf(err); err != nil && kind != tool.Invalid && kind != tool.Conflict && kind != tool.Busy && kind != tool.NotFound {
		g.rt.Fatalf("%s: %v", kind, err)
	}
}

// changeRandomly makes one random change.
func (g *randomChanger) changeRandomly() {
	ctx := g.t.Context()
	id, role := g.randomMessage()
	before := g.storedParts()
	var a chat.Accepted
	var err error
	words := textParts(rapid.SampledFrom([]string{"say", "call", "call forget", "fail", "wait", "sum"}).Draw(g.rt, "words"))
	op := rapid.SampledFrom([]string{"send", "send", "send", "regenerate", "edit", "mark", "select", "delete", "keep", "prune", "continue"}).Draw(g.rt, "op")
	switch op {
	case "send":
		parent := g.lastMessage(g.session)
		if role == "assistant" && rapid.Bool().Draw(g.rt, "elsewhere") {
			parent = id
		}
		a, err = g.Send(ctx, g.session, chat.Draft{Parent: parent, Parts: words}, chat.TurnOptions{})
	case "regenerate":
		a, err = g.Regenerate(ctx, id, chat.TurnOptions{})
	case "edit":
		a, err = g.Edit(ctx, id, "", words, role == "user", chat.TurnOptions{})
	case "mark":
		_, err = g.Edit(ctx, id, "", words, false, chat.TurnOptions{})
	case "continue":
		a, err = g.Continue(ctx, id, chat.TurnOptions{})
	case "select":
		g.selectAndBack(id)
	case "delete", "keep":
		err = g.DeleteMessage(ctx, id, op == "keep")
	case "prune":
		was := pathText(g.mustGet(g.session))
		_, err = g.Prune(ctx, g.session)
		if now := pathText(g.mustGet(g.session)); now != was {
			g.rt.Fatalf("pruned: %s\nwas: %s", now, was)
		}
	}
	g.mayRefuse(err)
	if a.Turn != "" {
		await.Until(g.t, "the turn runs or has ended", func() bool {
			s, err := g.Turn(ctx, a.Turn)
			if err != nil {
				g.rt.Fatal(err)
			}
			if s.State == chat.TurnRunning && len(s.Parts) > 0 && strings.Contains(s.Parts[len(s.Parts)-1].Text, "wait") {
				if err := g.Cancel(ctx, a.Turn, ""); err != nil {
					g.rt.Fatal(err)
				}
			}
			return s.State.Ended()
		})
	}
	if op == "regenerate" || op == "edit" || op == "mark" || op == "select" {
		after := g.storedParts()
		for id, was := range before {
			if after[id] != was {
				g.rt.Fatalf("%s changed %s from %s to %s", op, id, was, after[id])
			}
		}
	}
	g.checkInvariants()
}

// selectAndBack selects another branch and then the first one again.
func (g *randomChanger) selectAndBack(id string) {
	v := g.mustGet(g.session)
	for _, m := range v.Path {
		if m.ID != id || m.Of < 2 {
			continue
		}
		there, err := g.Select(g.t.Context(), m.Parent, (m.Index+1)%m.Of)
		if err != nil {
			g.rt.Fatal(err)
		}
		if slices.ContainsFunc(there.Path, func(o chat.Message) bool { return o.ID == id }) {
			g.rt.Fatal("the path stays where it was")
		}
		back, err := g.Select(g.t.Context(), m.Parent, m.Index)
		if err != nil || pathText(back) != pathText(v) {
			g.rt.Fatalf("back again: %v\n%s\nwas:\n%s", err, pathText(back), pathText(v))
		}
		if _, err := g.Select(g.t.Context(), m.Parent, m.Of); kindOf(err) != tool.Invalid {
			g.rt.Fatalf("out of range: %v", err)
		}
	}
}

// storedParts returns the stored parts of each message, by its id.
func (g *randomChanger) storedParts() map[string]string {
	all := map[string]string{}
	err := g.store.Read(g.t.Context(), func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			all[r.ColumnText(0)] += r.ColumnText(1)
			return true
		}, "SELECT m.id, p.data FROM message AS m JOIN part AS p ON p.message = m.n WHERE m.session = ? ORDER BY p.message, p.idx", g.session)
		return nil
	})
	if err != nil {
		g.rt.Fatal(err)
	}
	return all
}

// wrongQueries are queries that must find nothing, by what a row would mean.
var wrongQueries = map[string]string{
	"a session has not one root": `SELECT s.id FROM session AS s WHERE (SELECT count(*) FROM message WHERE session = s.id AND role = 'root' AND parent IS NULL) <> 1`,
	"a parent is missing, or in another session": `SELECT m.id FROM message AS m WHERE m.role <> 'root'
		AND NOT EXISTS (SELECT 1 FROM message AS up WHERE up.n = m.parent AND up.session = m.session)`,
	"a message that lives lies below one that does not": `SELECT m.id FROM message AS m JOIN message AS up ON up.n = m.parent WHERE m.deleted = 0 AND up.deleted <> 0`,
	"what is selected is not a child that lives": `SELECT m.id FROM message AS m WHERE m.selected IS NOT NULL
		AND NOT EXISTS (SELECT 1 FROM message AS c WHERE c.n = m.selected AND c.parent = m.n AND c.deleted = 0)`,
	"two messages of a session stream": `SELECT session FROM message WHERE status = 'streaming' GROUP BY session HAVING count(*) > 1`,
	"a message streams without a turn": `SELECT m.id FROM message AS m WHERE m.status = 'streaming' AND m.deleted = 0
		AND NOT EXISTS (SELECT 1 FROM turn AS t WHERE t.answer = m.id AND t.state IN ('running', 'awaiting_approval'))`,
	"a call of a turn that ended has not": `SELECT c.id FROM call AS c JOIN turn AS t ON t.id = c.turn WHERE t.ended > 0 AND c.state IN ('proposed', 'awaiting', 'executing')`,
	"a message lies below itself": `WITH RECURSIVE up (start, n, depth) AS (SELECT n, parent, 1 FROM message UNION ALL
		SELECT up.start, m.parent, up.depth + 1 FROM up JOIN message AS m ON m.n = up.n WHERE up.depth < 200) SELECT start FROM up WHERE depth >= 200`,
	"what was deleted says something": `SELECT m.id FROM message AS m JOIN part AS p ON p.message = m.n WHERE m.deleted <> 0`,
}

// checkInvariants checks that the queries in wrongQueries find nothing.
func (g *randomChanger) checkInvariants() {
	err := g.store.Read(g.t.Context(), func(tx *store.Tx) error {
		for what, statement := range wrongQueries {
			tx.Query(func(r *store.Row) bool {
				g.rt.Errorf("%s: %s", what, r.ColumnText(0))
				return true
			}, statement)
		}
		return nil
	})
	if err != nil {
		g.rt.Fatal(err)
	}
	v := g.mustGet(g.session)
	seen := map[string]bool{}
	parent := v.Root
	for _, m := range v.Path {
		if m.Parent != parent || seen[m.ID] || m.Index >= m.Of {
			g.rt.Fatalf("the path is not one: %+v", v.Path)
		}
		seen[m.ID], parent = true, m.ID
	}
}

var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// withoutIDs returns an export with its ids replaced by numbers, and without the fields that an import changes.
func withoutIDs(data []byte) string {
	seen := map[string]string{}
	text := changedFields.ReplaceAllString(string(data), "")
	return ids.ReplaceAllStringFunc(text, func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprint("id", len(seen))
		}
		return seen[id]
	})
}

var changedFields = regexp.MustCompile(`"revision": \d+|"turnId": "[^"]*",\s*|"callId": "[^"]*"|"forkedFrom": "[^"]*",\s*`)

// checkCopies exports the session, imports it, exports it again and compares; it also forks the session.
func (g *randomChanger) checkCopies() {
	ctx := g.t.Context()
	data, err := g.Export(ctx, g.session, "json", false)
	if err != nil {
		g.rt.Fatal(err)
	}
	copied, err := g.Import(ctx, strings.NewReader(string(data)), nil)
	if err != nil {
		g.rt.Fatalf("%v\n%s", err, data)
	}
	again, err := g.Export(ctx, copied.ID, "json", false)
	if err != nil || withoutIDs(again) != withoutIDs(data) {
		g.rt.Fatalf("%v\nexported:\n%s\nagain:\n%s", err, withoutIDs(data), withoutIDs(again))
	}
	sessions := []string{copied.ID}
	if id, _ := g.randomMessage(); id != "" {
		extent := rapid.SampledFrom([]chat.Extent{chat.ForkPath, chat.ForkSubtree, chat.ForkAll}).Draw(g.rt, "extent")
		fork, err := g.Fork(ctx, id, extent)
		if err != nil {
			g.rt.Fatal(err)
		}
		if extent == chat.ForkAll && pathText(g.mustGet(fork.ID)) != pathText(g.mustGet(g.session)) {
			g.rt.Fatal("a fork of all shows something else")
		}
		sessions = append(sessions, fork.ID)
	}
	g.checkInvariants()
	for _, id := range sessions {
		if err := g.Delete(ctx, id, false); err != nil {
			g.rt.Fatal(err)
		}
	}
}
