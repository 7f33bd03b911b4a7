package live

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel"
	"collie/test/await"
	"collie/test/gateway"
)

// Options of [Smoke]. The zero value suits a kernel that needs no pause.
type Options struct {
	// Wait is how long to wait before the notebook is removed. A real kernel may crash if a notebook is
	// removed shortly after it was written.
	Wait time.Duration
}

// slow is the time above which a call is logged as slow.
const slow = 2 * time.Second

// smoke is one run of the tour. Its methods named in [Smoke] are the steps; they are in the files tour_*.go.
type smoke struct {
	t        *testing.T
	p        gateway.Programs
	home     string
	settings string
	client   *kernel.Client

	ran      map[string]bool // actions called so far
	word     string          // a word that other notes do not contain
	name     string          // name of the notebook
	notebook string
}

// Smoke runs the tour against the kernel at url. The test binary must have called [gateway.BuildAndRun].
func Smoke(t *testing.T, url, token string, opts Options) {
	t.Helper()
	s := &smoke{t: t, p: gateway.LinkPrograms(t), home: t.TempDir(), client: kernel.New(url, kernel.Options{Token: token}), ran: map[string]bool{}}
	t.Cleanup(s.client.Close)
	s.word = "smoke" + string(kernel.NewID())[15:]
	s.name = "Collie " + s.word
	s.settings = s.p.Settings(t, nil, fmt.Sprintf(
		`"siyuan":{"connections":{"live":{"url":%q,"token":%q}},"newNotebookPermission":"rwd","localFileRoots":[%q]}`, url, token, s.home))
	s.p.ServeIn(t, s.home, s.settings) // the following calls go through this gateway
	for _, step := range []struct {
		name string
		run  func()
	}{
		{"create", s.createNotebook},
		{"read", s.tryRead},
		{"edit", s.tryEdit},
		{"titles", s.tryTitles},
		{"notebook", s.tryNotebook},
		{"document", s.tryDocuments},
		{"blocks", s.tryBlocks},
		{"move", s.tryMoves},
		{"search", s.trySearch},
		{"replace", s.replaceEverywhere},
		{"database", s.tryDatabase},
		{"cards", s.tryCards},
		{"tag", s.tryTag},
		{"asset", s.tryAsset},
		{"export", s.tryExport},
		{"system", s.trySystem},
		{"mascot", s.tryMascot},
		{"undo", s.tryUndo},
		{"undo rm", s.tryUndoTree},
		{"cleanup", s.removeAll},
	} {
		begun := time.Now()
		step.run()
		if t.Failed() {
			t.Fatalf("%s: it ends here", step.name)
		}
		t.Logf("%-8s ok, %v", step.name, time.Since(begun).Round(time.Millisecond))
		if step.name == "create" {
			t.Cleanup(func() { s.removeNotebook(opts.Wait) })
		}
	}
	t.Logf("%d actions ran", len(s.ran))
}

// args are the arguments of a call.
type args map[string]any

// callAction runs `collie call TOOL ACTION --args ARGS --yes` and returns its result and exit code. name is "tool.action".
// --yes confirms dangerous actions.
func (s *smoke) callAction(name string, a args) (result gjson.Result, code int) {
	s.t.Helper()
	tool, action, _ := strings.Cut(name, ".")
	raw, err := json.Marshal(a)
	if err != nil {
		s.t.Fatal(err)
	}
	begun := time.Now()
	out, errs, code := s.p.Run(s.t, s.home, "--config", s.settings, "call", tool, action, "--args", string(raw), "--yes", "--json")
	s.ran[name] = true
	if took := time.Since(begun); took > slow {
		s.t.Logf("slow: %s %s took %v", name, raw, took.Round(time.Millisecond))
	}
	if code != 0 && errs != "" {
		s.t.Logf("%s %s: exit code %d: %.800s", name, raw, code, errs)
	}
	return gjson.Parse(out), code
}

// mustCall is callAction for a call that must succeed.
func (s *smoke) mustCall(name string, a args) gjson.Result {
	s.t.Helper()
	result, code := s.callAction(name, a)
	if code != 0 {
		raw, _ := json.Marshal(a) // cannot fail: callAction has marshalled the same value
		s.t.Fatalf("%s %s: exit code %d: %.1500s", name, raw, code, result.Raw)
	}
	return result
}

// mustRefuse is callAction for a call that must fail with an error of one of the types.
func (s *smoke) mustRefuse(name string, a args, types ...string) gjson.Result {
	s.t.Helper()
	result, code := s.callAction(name, a)
	if got := result.Get("error.type").String(); code == 0 || !slices.Contains(types, got) {
		s.t.Fatalf("%s %v: exit code %d, want an error of %v: %.800s", name, a, code, types, result.Raw)
	}
	return result
}

// isSwitchedOff calls an action and reports whether it is switched off, as some are by default. A test must not change the
// switches of somebody's workspace.
func (s *smoke) isSwitchedOff(name string, a args) bool {
	s.t.Helper()
	result, code := s.callAction(name, a)
	if code == 0 {
		return false
	}
	if got := result.Get("error.type").String(); got != "action_disabled" && got != "disabled_error" {
		s.t.Fatalf("%s: %.800s", name, result.Raw)
	}
	return true
}

// mustContain fails the run unless text contains all words.
func (s *smoke) mustContain(what, text string, words ...string) {
	s.t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			s.t.Fatalf("%s: no %q in %.1500s", what, w, text)
		}
	}
}

// removeNotebook removes the notebook of the test, also after a failed step. The action notebook.remove is off by default, so
// removeNotebook asks the kernel directly. It first waits for the time in [Options].
func (s *smoke) removeNotebook(wait time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), time.Minute)
	defer cancel()
	if err := s.client.Flush(ctx); err != nil {
		s.t.Errorf("flush: %v", err)
	}
	await.Moment(wait)
	if err := s.client.RemoveNotebook(ctx, kernel.ID(s.notebook)); err != nil {
		s.t.Errorf("remove the notebook %s (%s): %v", s.name, s.notebook, err)
	}
	left, err := s.client.Notebooks(ctx)
	if err != nil {
		s.t.Errorf("list the notebooks: %v", err)
	}
	for _, n := range left {
		if n.ID == kernel.ID(s.notebook) {
			s.t.Errorf("the notebook %s is still there", s.name)
		}
	}
}
