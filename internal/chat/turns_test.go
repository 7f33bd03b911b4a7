package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
	"collie/test/await"
)

// steppedEngine returns an engine whose turns are controlled by the test: each is sent to begun, runs the functions that it receives
// from step, and ends when it receives nil.
func steppedEngine(begun chan<- *chat.Turn, step <-chan func(chat.Sink)) engineFunc {
	return func(ctx context.Context, turn *chat.Turn, s chat.Sink) (chat.Outcome, error) {
		s.Emit(0, llm.Event{Kind: llm.EventText, Text: "begun"})
		begun <- turn
		for {
			select {
			case do := <-step:
				if do == nil {
					return chat.Outcome{Finish: llm.FinishStop}, nil
				}
				do(s)
			case <-ctx.Done():
				return chat.Outcome{}, context.Cause(ctx)
			}
		}
	}
}

func TestTurnsOfASessionWaitForEachOther(t *testing.T) {
	t.Parallel()
	begun, step := make(chan *chat.Turn, 20), make(chan func(chat.Sink))
	dir := t.TempDir()
	p := openService(t, dir, steppedEngine(begun, step))
	elsewhere := openService(t, dir, steppedEngine(begun, step)) // stands for another process
	session := p.createSession()
	first := p.mustSend(session, "first")
	<-begun
	second := elsewhere.mustSend(session, "second")
	third := p.mustSend(session, "third")
	if second.State != chat.TurnQueued || third.State != chat.TurnQueued {
		t.Errorf("they are %s and %s", second.State, third.State)
	}
	_, err := p.Send(t.Context(), session, chat.Draft{Parent: third.Answer, Parts: textParts("x")}, chat.TurnOptions{Overrides: chat.Config{BusyPolicy: "reject"}})
	if kindOf(err) != tool.Conflict {
		t.Errorf("to be refused: %v", err)
	}
	if err := p.Cancel(t.Context(), third.Turn, "no longer"); err != nil {
		t.Fatal(err)
	}
	if s := p.awaitEnd(third.Turn); s.State != chat.TurnCancelled {
		t.Errorf("the third is %s", s.State)
	}
	step <- nil
	if s := p.awaitEnd(first.Turn); s.State != chat.TurnDone {
		t.Errorf("the first is %s", s.State)
	}
	if turn := <-begun; turn.ID != second.Turn || len(turn.Path) != 3 {
		t.Errorf("then runs %+v", turn)
	}
	if err := p.Cancel(t.Context(), second.Turn, ""); err != nil { // another service than the one that runs the turn
		t.Fatal(err)
	}
	if s := p.awaitEnd(second.Turn); s.State != chat.TurnCancelled || s.Parts[0].Text != "begun" {
		t.Errorf("the second is %+v", s)
	}
	if got, want := pathText(p.mustGet(session)), "user(complete): first\nassistant(complete): begun\nuser(complete): second\nassistant(cancelled): begun\n"; got != want {
		t.Errorf("the session is\n%s", got)
	}
	for range 12 {
		_, err = p.Send(t.Context(), session, chat.Draft{Parent: p.lastMessage(session), Parts: textParts("more")}, chat.TurnOptions{})
	}
	if kindOf(err) != tool.Busy {
		t.Errorf("a twelfth waits: %v", err)
	}
}

func TestSteeredTextReachesTheModel(t *testing.T) {
	t.Parallel()
	begun, step := make(chan *chat.Turn, 1), make(chan func(chat.Sink))
	p := openService(t, t.TempDir(), steppedEngine(begun, step))
	session := p.createSession()
	a := p.mustSend(session, "first")
	<-begun
	steer, err := p.Send(t.Context(), session, chat.Draft{Parent: a.Answer, Parts: textParts("and this")}, chat.TurnOptions{Overrides: chat.Config{BusyPolicy: "steer"}})
	if err != nil {
		t.Fatal(err)
	}
	step <- func(s chat.Sink) {
		if got := s.Steered(0); len(got) != 1 || got[0].Parts[0].Text != "and this" {
			t.Errorf("the model is told %+v", got)
		}
		if got := s.Steered(0); got != nil {
			t.Errorf("the model is told twice: %+v", got)
		}
		s.Emit(1, llm.Event{Kind: llm.EventText, Text: "so it is"})
	}
	step <- nil
	p.awaitEnd(a.Turn)
	if s := p.awaitEnd(steer.Turn); s.State != chat.TurnDone || s.Finish != "steered" {
		t.Errorf("what was said ended %+v", s)
	}
	if got, want := pathText(p.mustGet(session)), "user(complete): first\nassistant(complete): begun and this so it is\n"; got != want {
		t.Errorf("the session is\n%s", got)
	}
	next := p.mustSend(session, "more")
	turn := <-begun
	if len(turn.Path) != 5 || turn.Path[2].Role != llm.RoleUser || turn.Path[2].Parts[0].Text != "and this" {
		t.Errorf("the path is %+v", turn.Path)
	}
	step <- nil
	p.awaitEnd(next.Turn)
}

func TestCallsAreDurableBeforeTheyRun(t *testing.T) {
	t.Parallel()
	begun, step := make(chan *chat.Turn, 1), make(chan func(chat.Sink))
	p := openService(t, t.TempDir(), steppedEngine(begun, step))
	a := p.mustSend(p.createSession(), "call")
	<-begun
	readColumn := func(column, table string) (got string) {
		err := p.store.Read(t.Context(), func(tx *store.Tx) error {
			tx.Query(func(r *store.Row) bool { got += r.ColumnText(0); return true }, "SELECT "+column+" FROM "+table)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return got
	}
	done := make(chan struct{})
	step <- func(s chat.Sink) {
		defer close(done)
		s.Proposed(0, chat.ToolCall{ID: "c", Name: "files__write", Args: json.RawMessage(`{"token":"s3cret"}`)})
		asked, err := s.Asking(t.Context(), "c")
		if err != nil {
			t.Error(err)
			return
		}
		if got := readColumn("state", "call") + readColumn("state", "turn"); got != "awaitingawaiting_approval" {
			t.Errorf("while a person is asked: %s", got)
		}
		asked()
		if err := s.Executing(t.Context(), "c"); err != nil {
			t.Error(err)
		}
		if got := readColumn("state", "call") + readColumn("state", "turn"); got != "executingrunning" {
			t.Errorf("while it runs: %s", got)
		}
		if parts := readColumn("data", "part"); strings.Contains(parts, "s3cret") || !strings.Contains(parts, "•••") {
			t.Errorf("the parts are %s", parts)
		}
		s.Answered("c", chat.CallDone, llm.Part{Text: "written"}, 5)
		s.Answered("c", chat.CallFailed, llm.Part{Text: "twice"}, 5)
		s.Context(13, 100)
		s.Usage("p", "m", "k", llm.Usage{Input: 10, Output: 3}, 7)
		handle, err := s.Blob(t.Context(), "result", "text/plain", []byte("all of it"))
		if err != nil {
			t.Error(err)
		}
		if data, err := s.ReadBlob(t.Context(), handle); err != nil || string(data) != "all of it" {
			t.Errorf("%q, %v", data, err)
		}
	}
	<-done
	step <- nil
	end := p.awaitEnd(a.Turn)
	if len(end.Calls) != 1 || end.Calls[0].State != chat.CallDone || len(end.Parts) != 3 || end.Cost != 7 || end.Usage.ContextUsed != 13 || end.Usage.ContextSize != 100 {
		t.Errorf("it ended %+v", end)
	}
	rows, err := p.Usage(t.Context(), time.Time{}, time.Time{}, nil)
	if err != nil || len(rows) != 1 || rows[0].Input != 10 || rows[0].Cost != 7 || rows[0].Steps != 1 {
		t.Errorf("usage: %+v, %v", rows, err)
	}
}

func TestEngineThatDoesNotReturnEndsAllTheSame(t *testing.T) {
	t.Parallel()
	release, executing := make(chan struct{}), make(chan error, 1)
	defer close(release)
	p := openService(t, t.TempDir(), engineFunc(func(ctx context.Context, _ *chat.Turn, s chat.Sink) (chat.Outcome, error) {
		s.Proposed(0, chat.ToolCall{ID: "c", Name: "x"})
		executing <- s.Executing(ctx, "c")
		<-release
		return chat.Outcome{}, nil
	}))
	a := p.mustSend(p.createSession(), "hang")
	// A snapshot shows the state executing while that state is being written. A call that is cancelled then
	// never begins.
	if err := <-executing; err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := p.Cancel(t.Context(), a.Turn, "enough"); err != nil {
		t.Fatal(err)
	}
	s := p.awaitEnd(a.Turn)
	if s.State != chat.TurnCancelled || s.Calls[0].State != chat.CallUnknown {
		t.Errorf("it ended %+v", s)
	}
	await.Within(t, "a cancelled turn", time.Since(begun), 15*time.Second)
}

func TestAnswerThatStoppedGoesOn(t *testing.T) {
	t.Parallel()
	begun, step := make(chan *chat.Turn, 1), make(chan func(chat.Sink))
	p := openService(t, t.TempDir(), steppedEngine(begun, step))
	session := p.createSession()
	a := p.mustSend(session, "first")
	<-begun
	if err := p.Cancel(t.Context(), a.Turn, ""); err != nil {
		t.Fatal(err)
	}
	p.awaitEnd(a.Turn)
	b, err := p.Continue(t.Context(), a.Answer, chat.TurnOptions{})
	if err != nil || b.Answer != a.Answer {
		t.Fatalf("%+v, %v", b, err)
	}
	if turn := <-begun; len(turn.Partial) != 1 || turn.Partial[0].Text != "begun" {
		t.Errorf("it goes on from %+v", turn.Partial)
	}
	step <- nil
	p.awaitEnd(b.Turn)
	if got, want := pathText(p.mustGet(session)), "user(complete): first\nassistant(complete): begun begun\n"; got != want {
		t.Errorf("the session is\n%s", got)
	}
	if _, err := p.Continue(t.Context(), a.Answer, chat.TurnOptions{}); kindOf(err) != tool.Conflict {
		t.Errorf("a whole answer goes on: %v", err)
	}
}

// The commonest reason to have an answer go on is that it was as long as it may be.
func TestAnswerCutAtItsLimitGoesOn(t *testing.T) {
	t.Parallel()
	var got *chat.Turn
	p := openService(t, t.TempDir(), engineFunc(func(_ context.Context, turn *chat.Turn, s chat.Sink) (chat.Outcome, error) {
		got = turn
		s.Emit(0, llm.Event{Kind: llm.EventText, Text: "so"})
		if turn.Partial == nil {
			return chat.Outcome{Finish: llm.FinishLength}, nil
		}
		return chat.Outcome{Finish: llm.FinishStop}, nil
	}))
	a := p.mustSend(p.createSession(), "first")
	p.awaitEnd(a.Turn)
	b, err := p.Continue(t.Context(), a.Answer, chat.TurnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s := p.awaitEnd(b.Turn); s.State != chat.TurnDone || len(got.Partial) != 1 {
		t.Errorf("it ended %+v, from %+v", s, got.Partial)
	}
	if _, err := p.Continue(t.Context(), a.Answer, chat.TurnOptions{}); kindOf(err) != tool.Conflict {
		t.Errorf("a whole answer goes on: %v", err)
	}
}

// The pictures that a tool returned go to the model again when an answer goes on, except those that are gone.
func TestPicturesOfAnAnswerThatGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var got []llm.Part
	p := openService(t, dir, engineFunc(func(_ context.Context, turn *chat.Turn, s chat.Sink) (chat.Outcome, error) {
		if got = turn.Partial; got == nil {
			s.Answered("c", chat.CallDone, llm.Part{Text: "here", Files: []llm.File{{MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}}, 1)
		}
		return chat.Outcome{}, errors.New("as told")
	}))
	a := p.mustSend(p.createSession(), "first")
	p.awaitEnd(a.Turn)
	goOn := func() {
		t.Helper()
		b, err := p.Continue(t.Context(), a.Answer, chat.TurnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.awaitEnd(b.Turn)
	}
	goOn()
	if len(got) != 1 || len(got[0].Files) != 1 || string(got[0].Files[0].Data) != "\x89PNG\r\n\x1a\n" {
		t.Fatalf("it goes on from %+v", got)
	}
	sum := got[0].Files[0].SHA256
	gone := 0
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == sum {
			gone++
			return os.Remove(path)
		}
		return err
	})
	if err != nil || gone != 1 {
		t.Fatalf("%d files are named %s: %v", gone, sum, err)
	}
	goOn()
	if len(got) != 1 || len(got[0].Files) != 0 {
		t.Errorf("it goes on from %+v, and the picture is gone", got)
	}
}

func TestNothingIsWrittenOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	p := openService(t, t.TempDir(), engineThatSays("fine"))
	session := p.createSession()
	a := p.mustSend(session, "first")
	p.awaitEnd(a.Turn)
	before := p.mustGet(session)
	ask := chat.TurnOptions{}
	for name, try := range map[string]func() error{
		"no parent": func() error {
			_, err := p.Send(t.Context(), session, chat.Draft{Parts: textParts("x")}, ask)
			return err
		},
		"a parent elsewhere": func() error {
			_, err := p.Send(t.Context(), session, chat.Draft{Parent: "x", Parts: textParts("x")}, ask)
			return err
		},
		"nothing": func() error { _, err := p.Send(t.Context(), session, chat.Draft{Parent: a.Answer}, ask); return err },
		"no such file": func() error {
			_, err := p.Send(t.Context(), session, chat.Draft{Parent: a.Answer, Parts: []llm.Part{{Kind: llm.PartFile, File: &llm.File{SHA256: "../../x"}}}}, ask)
			return err
		},
		"a part of a model": func() error {
			_, err := p.Send(t.Context(), session, chat.Draft{Parent: a.Answer, Parts: []llm.Part{{Kind: llm.PartToolCall}}}, ask)
			return err
		},
		"no id": func() error {
			_, err := p.Send(t.Context(), session, chat.Draft{ID: "a b", Parent: a.Answer, Parts: textParts("x")}, ask)
			return err
		},
		"a PDF": func() error {
			_, err := p.Attach(t.Context(), session, "a.pdf", strings.NewReader("%PDF-1.7\n"))
			return err
		},
		"bytes": func() error {
			_, err := p.Attach(t.Context(), session, "a", strings.NewReader("\x00\xff\x01"))
			return err
		},
	} {
		if err := try(); kindOf(err) != tool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := p.mustGet(session); after.Revision != before.Revision || pathText(after) != pathText(before) {
		t.Errorf("it became\n%s", pathText(after))
	}
	title := "new"
	if _, err := p.Patch(t.Context(), session, chat.Patch{Title: &title}, before.Revision-1); kindOf(err) != tool.Conflict {
		t.Errorf("a stale change: %v", err)
	}
}

// A server chooses the numbers of its progress, and not every number has a JSON form.
func TestProgressThatIsNotANumber(t *testing.T) {
	t.Parallel()
	p := openService(t, t.TempDir(), engineFunc(func(_ context.Context, _ *chat.Turn, s chat.Sink) (chat.Outcome, error) {
		s.Progress("c", 1, math.Inf(1), "endless")
		s.Progress("c", 2, math.NaN(), "")
		s.Progress("c", math.Inf(-1), 1, "never")
		return chat.Outcome{Finish: llm.FinishStop}, nil
	}))
	a := p.mustSend(p.createSession(), "go")
	if s := p.awaitEnd(a.Turn); s.State != chat.TurnDone {
		t.Errorf("the turn is %s: %+v", s.State, s.Error)
	}
}

// A message that got no answer is one with the next for a model, and no part of what is to be answered.
func TestQuestionIsTheLastMessageAlone(t *testing.T) {
	t.Parallel()
	var got *chat.Turn
	p := openService(t, t.TempDir(), engineFunc(func(_ context.Context, turn *chat.Turn, _ chat.Sink) (chat.Outcome, error) {
		got = turn
		return chat.Outcome{}, errors.New("as told")
	}))
	session := p.createSession()
	p.awaitEnd(p.mustSend(session, "first").Turn)
	p.awaitEnd(p.mustSend(session, "second").Turn)
	if len(got.Path) != 1 || len(got.Path[0].Parts) != 2 || len(got.Question) != 1 || got.Question[0].Text != "second" {
		t.Errorf("the turn has the path %+v and the question %+v", got.Path, got.Question)
	}
}

func TestFilesAreKeptWithTheirSession(t *testing.T) {
	t.Parallel()
	var got []llm.Part
	p := openService(t, t.TempDir(), engineFunc(func(_ context.Context, turn *chat.Turn, _ chat.Sink) (chat.Outcome, error) {
		got = turn.Path[0].Parts
		return chat.Outcome{}, nil
	}))
	session := p.createSession()
	picture := "\x89PNG\r\n\x1a\n rest"
	var parts []llm.Part
	for name, content := range map[string]string{"a.png": picture, "b.txt": "words"} {
		f, err := p.Attach(t.Context(), session, "/somewhere/"+name, strings.NewReader(content))
		if err != nil || f.Name != name {
			t.Fatalf("%+v, %v", f, err)
		}
		parts = append(parts, llm.Part{Kind: llm.PartFile, File: &llm.File{SHA256: f.SHA256}})
	}
	a, err := p.Send(t.Context(), session, chat.Draft{Parts: parts}, chat.TurnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.awaitEnd(a.Turn)
	for _, part := range got {
		if part.Kind == llm.PartFile && string(part.File.Data) != picture || part.Kind == llm.PartText && (!strings.HasSuffix(part.Text, "words") || string(part.File.Data) != "words") {
			t.Errorf("the model gets %+v", part)
		}
	}
	data, err := p.Export(t.Context(), session, "json", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Delete(t.Context(), session, false); err != nil {
		t.Fatal(err)
	}
	sum := parts[0].File.SHA256
	if _, _, err := p.OpenBlob(t.Context(), sum); kindOf(err) != tool.NotFound {
		t.Errorf("a file outlives its session: %v", err)
	}
	if _, err := p.Import(t.Context(), strings.NewReader(string(data)), nil); err != nil {
		t.Fatal(err)
	}
	r, f, err := p.OpenBlob(t.Context(), sum)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil || int64(len(content)) != f.Size {
		t.Errorf("%q, %+v, %v", content, f, err)
	}
	if err := os.RemoveAll(filepath.Join(p.dir, "blobs")); err != nil {
		t.Fatal(err)
	}
	if r, _, err := p.OpenBlob(t.Context(), sum); kindOf(err) != tool.NotFound || r != nil {
		t.Errorf("of a file that is gone: %v, %v", r, err)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	p := openService(t, t.TempDir(), engineThatSays("Die Antwort, 答案是四十二"))
	session := p.createSession()
	p.awaitEnd(p.mustSend(session, "What is the 问题 of 100%_life?").Turn)
	for query, want := range map[string]int{
		"ANTWORT": 1, "答案": 1, "答案是四": 1, "问题": 1, "0%": 1, "%_": 1, "100%_": 1, "nothing": 0, `"quoted" OR`: 0, "四": 1, "is": 1,
		"二": 1, "十二": 1, "E?": 1, "?": 1, "dI": 1, "D": 1, "xq": 0, "题 ": 1, "X": 0,
	} {
		found, err := p.Search(t.Context(), query, 0, nil)
		if err != nil || len(found) != want {
			t.Errorf("%s: %+v, %v", query, found, err)
		}
		page, err := p.List(t.Context(), chat.List{Query: query})
		if err != nil || len(page.Sessions) != min(want, 1) {
			t.Errorf("%s: sessions %+v, %v", query, page, err)
		}
	}
	if _, err := p.Search(t.Context(), " ", 0, nil); kindOf(err) != tool.Invalid {
		t.Error(err)
	}
}

// TestSlowClientBeginsAnew has a client read nothing while more events are published than the ring holds.
func TestSlowClientBeginsAnew(t *testing.T) {
	t.Parallel()
	begun, step := make(chan *chat.Turn, 1), make(chan func(chat.Sink))
	p := openService(t, t.TempDir(), steppedEngine(begun, step))
	a := p.mustSend(p.createSession(), "much")
	<-begun
	sub, err := p.Subscribe(t.Context(), chat.Filter{Turn: a.Turn}, "")
	if err != nil {
		t.Fatal(err)
	}
	step <- func(s chat.Sink) {
		for i := range 5000 {
			s.Emit(0, llm.Event{Kind: llm.EventText, Text: fmt.Sprint(i, " ")})
			s.Progress("c", float64(i), 0, "")
		}
	}
	step <- nil
	end := p.awaitEnd(a.Turn)
	if f := readUntilEnd(t, sub, a.Turn); f.text != end.Parts[0].Text || f.state != chat.TurnDone {
		t.Errorf("it has %d bytes of %d, %s", len(f.text), len(end.Parts[0].Text), f.state)
	}
}

// Steering does not give anybody the rights of a running turn: a message sent with a token cannot use what the person of the
// turn may do, or what was allowed beforehand.
func TestSteeringGainsNoRights(t *testing.T) {
	t.Parallel()
	me, token := chat.TurnOptions{Person: true, Principal: "me"}, chat.TurnOptions{Principal: "token"}
	allowed := chat.TurnOptions{Principal: "token", Overrides: chat.Config{Allow: []string{"files.*"}}}
	for name, tt := range map[string]struct {
		runs, says chat.TurnOptions
		heard      bool
	}{
		"a token and itself": {runs: token, says: token, heard: true}, "a person and themselves": {runs: me, says: me, heard: true}, "a token and a person": {runs: token, says: me, heard: true},
		"a person and a token": {runs: me, says: token}, "a person and their key without them": {runs: me, says: chat.TurnOptions{Principal: "me"}},
		"a token and another": {runs: token, says: chat.TurnOptions{Principal: "other"}}, "what was allowed, and a token": {runs: allowed, says: token},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, step := make(chan *chat.Turn, 1), make(chan func(chat.Sink))
			p := openService(t, t.TempDir(), steppedEngine(begun, step))
			session := p.createSession()
			first, err := p.Send(t.Context(), session, chat.Draft{Parts: textParts("first")}, tt.runs)
			if err != nil {
				t.Fatal(err)
			}
			<-begun
			tt.says.Overrides.BusyPolicy = "steer"
			second, err := p.Send(t.Context(), session, chat.Draft{Parent: first.Answer, Parts: textParts("second")}, tt.says)
			if err != nil {
				t.Fatal(err)
			}
			heard := make(chan []llm.Message, 1)
			step <- func(s chat.Sink) { heard <- s.Steered(0) }
			if got := <-heard; len(got) == 1 != tt.heard {
				t.Errorf("the model is told %+v", got)
			}
			step <- nil
			p.awaitEnd(first.Turn)
			if !tt.heard { // the message is then answered by a turn of its own
				if turn := <-begun; turn.ID != second.Turn || turn.Person != tt.says.Person || turn.Principal != tt.says.Principal {
					t.Errorf("then runs %+v", turn)
				}
				step <- nil
			}
			if s := p.awaitEnd(second.Turn); s.State != chat.TurnDone || (s.Finish == "steered") != tt.heard {
				t.Errorf("what was said ended %s, %s", s.State, s.Finish)
			}
		})
	}
}

// TestEndThatCannotBeWritten fills the disk before the end of a turn. The client gets an error. Once there is room, this
// process saves the end, or the next process saves the turn as interrupted.
func TestEndThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, roomy := range map[string]bool{"room is made": true, "the process ends": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, step := make(chan *chat.Turn, 2), make(chan func(chat.Sink))
			dir := t.TempDir()
			p := openService(t, dir, steppedEngine(begun, step))
			session := p.createSession()
			a := p.mustSend(session, "first")
			<-begun
			durable := make(chan error, 1)
			step <- func(s chat.Sink) {
				s.Proposed(0, chat.ToolCall{ID: "c", Name: "x"})
				durable <- s.Executing(t.Context(), "c") // when it returns, the earlier text is durable too
			}
			if err := <-durable; err != nil {
				t.Fatal(err)
			}
			do := func(s *store.Store, statement string) {
				t.Helper()
				if err := s.Write(t.Context(), func(tx *store.Tx) error { tx.Exec(statement); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			do(p.store, `CREATE TRIGGER full BEFORE UPDATE ON turn WHEN new.ended <> 0 BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`)
			sub, err := p.Subscribe(t.Context(), chat.Filter{Turn: a.Turn}, "")
			if err != nil {
				t.Fatal(err)
			}
			step <- nil
			if f := readUntilEnd(t, sub, a.Turn); f.state != chat.TurnError || f.text != "begun" {
				t.Errorf("the client is told %+v", f)
			}
			check := func(p *testService, state chat.TurnState, status chat.Status) {
				t.Helper()
				s, v := p.awaitEnd(a.Turn), p.mustGet(session)
				if s.State != state || s.Parts[0].Text != "begun" || v.Path[1].Status != status || len(v.Turns) > 0 {
					t.Errorf("it is %+v, in %+v", s, v)
				}
				if s.State == chat.TurnError && (s.Error == nil || s.Error.Code != "not_kept" || !strings.Contains(s.Error.Message, "disk is full")) {
					t.Errorf("the error is %+v", s.Error)
				}
			}
			check(p, chat.TurnError, chat.StatusError)
			again, err := p.Subscribe(t.Context(), chat.Filter{Turn: a.Turn}, "")
			if err != nil {
				t.Fatal(err)
			}
			if f := readUntilEnd(t, again, a.Turn); f.state != chat.TurnError || f.text != "begun" {
				t.Errorf("a client that comes later is told %+v", f)
			}
			if roomy {
				next := p.mustSend(session, "next")
				do(p.store, "DROP TRIGGER full")
				<-begun
				step <- nil
				p.awaitEnd(next.Turn)
			}
			p.closeNow()
			after, err := store.Open(t.Context(), dir, chat.Schema())
			if err != nil {
				t.Fatal(err)
			}
			do(after, "DROP TRIGGER IF EXISTS full")
			if err := after.Close(); err != nil {
				t.Fatal(err)
			}
			if p = openService(t, dir, engineThatSays("x")); roomy {
				check(p, chat.TurnError, chat.StatusError)
			} else {
				check(p, chat.TurnInterrupted, chat.StatusInterrupted)
			}
		})
	}
}
