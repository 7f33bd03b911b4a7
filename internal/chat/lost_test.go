package chat_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/store"
	"collie/test/await"
)

var kills = flag.Int("kills", 5, "how often TestKilledProcessLosesNothing kills a process")

// childEnv is the name of an environment variable. If it is set, the test program runs turns in the folder that it names, instead of tests.
const childEnv = "COLLIE_TEST_CHAT_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := runTurnsForever(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runTurnsForever runs turns until it is killed, and prints which messages were accepted and which text was durable.
func runTurnsForever(dir string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, dir, chat.Schema())
	if err != nil {
		return err
	}
	service, err := chat.Open(ctx, s, chat.Options{Engine: func(context.Context, chat.Config, []llm.Part) (string, chat.Engine, error) {
		return "script", engineFunc(babblingEngine), nil
	}})
	if err != nil {
		return err
	}
	c, err := service.Create(ctx, chat.NewSession{})
	if err != nil {
		return err
	}
	v, err := service.Get(ctx, c.ID)
	if err != nil {
		return err
	}
	for parent := v.Root; ; {
		a, err := service.Send(ctx, c.ID, chat.Draft{Parent: parent, Parts: textParts("go")}, chat.TurnOptions{})
		if err != nil {
			return err
		}
		fmt.Printf("sent %s %s\n", c.ID, a.Turn)
		sub, err := service.Subscribe(ctx, chat.Filter{Turn: a.Turn}, "")
		if err != nil {
			return err
		}
		for err == nil {
			_, err = sub.Next(ctx)
		}
		parent = a.Answer
	}
}

// babblingEngine is an engine that writes much text and calls tools. The effect of a call is a line on stdout.
func babblingEngine(ctx context.Context, t *chat.Turn, s chat.Sink) (chat.Outcome, error) {
	written := 0
	for step := range 3 {
		for range 20 {
			s.Emit(step, llm.Event{Kind: llm.EventText, Text: strings.Repeat("abc ", 100)})
			written += 400
		}
		call := fmt.Sprintf("%s-%d", t.ID, step)
		s.Proposed(step, chat.ToolCall{ID: call, Name: "files__write", Args: json.RawMessage(`{}`)})
		if err := s.Executing(ctx, call); err != nil {
			return chat.Outcome{}, err
		}
		fmt.Printf("effect %s %s %d\n", t.ID, call, written)
		s.Answered(call, chat.CallDone, llm.Part{Text: "written"}, 1)
	}
	return chat.Outcome{Finish: llm.FinishStop}, nil
}

// TestKilledProcessLosesNothing kills a process at random moments in its turns, while this process runs a turn too. Accepted
// messages and the text before a call must be in the database, and no call that ran may count as not made.
func TestKilledProcessLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := openService(t, dir, engineFunc(func(ctx context.Context, _ *chat.Turn, s chat.Sink) (chat.Outcome, error) {
		s.Emit(0, llm.Event{Kind: llm.EventText, Text: "still here"})
		<-ctx.Done()
		return chat.Outcome{}, context.Cause(ctx)
	}))
	goesOn := other.mustSend(other.createSession(), "go")
	for range *kills {
		lines := runAndKill(t, dir)
		p := openService(t, dir, engineThatSays("fine"))
		checkKilled(t, p, lines)
		if s, err := p.Turn(t.Context(), goesOn.Turn); err != nil || s.State != chat.TurnRunning {
			t.Fatalf("the turn of a process that lives is %s, %v", s.State, err)
		}
		p.closeNow()
	}
	if err := other.Cancel(t.Context(), goesOn.Turn, ""); err != nil {
		t.Fatal(err)
	}
	if s := other.awaitEnd(goesOn.Turn); s.State != chat.TurnCancelled || s.Parts[0].Text != "still here" {
		t.Errorf("it ended %+v", s)
	}
}

// runAndKill runs a child process for a random time, kills it, and returns the lines that it printed.
func runAndKill(t *testing.T, dir string) (lines []string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for said.Scan() {
		lines = append(lines, said.Text())
		if len(lines) == 1 {
			go func() {
				await.Moment(time.Duration(rand.IntN(60_000)) * time.Microsecond)
				_ = cmd.Process.Kill()
			}()
		}
	}
	_ = cmd.Wait() // it was killed
	if len(lines) == 0 {
		t.Fatal("the child said nothing")
	}
	return lines
}

// checkKilled compares the database with the lines that a killed process printed.
func checkKilled(t *testing.T, p *testService, lines []string) {
	t.Helper()
	for i, line := range lines {
		var kind, first, second string
		var written int
		if n, _ := fmt.Sscan(line, &kind, &first, &second, &written); n < 3 {
			continue // the process was killed within this line
		}
		turn := first
		if kind == "sent" {
			turn = second
		}
		s, err := p.Turn(t.Context(), turn)
		if err != nil {
			if i == len(lines)-1 {
				continue // the end of a line may be missing
			}
			t.Fatalf("%s: %v", line, err)
		}
		if !s.State.Ended() {
			t.Fatalf("%s: it is %s", line, s.State)
		}
		if kind == "sent" {
			if got := pathText(p.mustGet(first)); !strings.Contains(got, "user(complete): go") {
				t.Fatalf("%s: the session is\n%s", line, got)
			}
			continue
		}
		text, state := 0, chat.CallState("")
		for _, part := range s.Parts {
			if part.Kind == llm.PartText {
				text += len(part.Text)
			}
		}
		for _, c := range s.Calls {
			if c.ID == second {
				state = c.State
			}
		}
		if text < written || state != chat.CallDone && state != chat.CallUnknown {
			t.Fatalf("%s: %d bytes, the call is %q in %s", line, text, state, s.State)
		}
	}
}

// TestReconnectsSeeTheSameText interrupts a client's stream at random places and compares its text with that of a client
// without interruptions.
func TestReconnectsSeeTheSameText(t *testing.T) {
	t.Parallel()
	for _, pause := range []time.Duration{0, 50 * time.Microsecond} {
		begin := make(chan struct{})
		p := openService(t, t.TempDir(), engineFunc(func(_ context.Context, _ *chat.Turn, s chat.Sink) (chat.Outcome, error) {
			<-begin
			for i := range 6000 {
				s.Emit(0, llm.Event{Kind: llm.EventText, Index: i / 1000, Text: fmt.Sprint(i, " ")})
				if pause > 0 && i%10 == 0 {
					await.Moment(pause)
				}
			}
			return chat.Outcome{Finish: llm.FinishStop}, nil
		}))
		a := p.mustSend(p.createSession(), "go")
		stays, err := p.Subscribe(t.Context(), chat.Filter{Turn: a.Turn}, "")
		if err != nil {
			t.Fatal(err)
		}
		close(begin)
		var f clientState
		for range 20 {
			sub, err := p.Subscribe(t.Context(), chat.Filter{Turn: a.Turn}, f.last)
			if err != nil {
				t.Fatal(err)
			}
			events, err := sub.Next(t.Context())
			for range rand.IntN(3) {
				for _, e := range events {
					f.apply(t, e)
				}
				if events = nil; f.state == "" && err == nil {
					events, err = sub.Next(t.Context())
				}
			}
			if len(events) > 0 {
				for _, e := range events[:rand.IntN(len(events))] { // the connection breaks in between
					f.apply(t, e)
				}
			}
			sub.Close()
		}
		if f.state == "" {
			sub, err := p.Subscribe(t.Context(), chat.Filter{Turn: a.Turn}, f.last)
			if err != nil {
				t.Fatal(err)
			}
			f.applyUntilEnd(t, sub, a.Turn)
			sub.Close()
		}
		want := ""
		for _, part := range p.awaitEnd(a.Turn).Parts {
			want += part.Text
		}
		if f.text != want {
			t.Errorf("the client that came again has %d bytes, the file %d", len(f.text), len(want))
		}
		if whole := readUntilEnd(t, stays, a.Turn); whole.text != want {
			t.Errorf("the client that stayed has %d bytes, the file %d", len(whole.text), len(want))
		}
	}
}
