package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/guide"
)

// fittingErrors are the kinds of errors that a correct call may get: something does not exist or does not fit, may not be
// accessed, or needs confirmation.
var fittingErrors = []string{
	"", "not_found", "permission_denied", "confirmation_needed", "invalid_path", "invalid_arguments", "already_exists",
	"ambiguous_path", "state_changed", "api_error", "unsupported_by_kernel", "complex_blocks_not_supported_by_fs",
}

// TestExamples calls every action with the example from its help page, unchanged. None may be
// refused by the schema of its arguments; arguments that name what this workspace lacks may be.
func TestExamples(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Lenient() // the ids in examples are made up
	w.File(ownFolder+configFile, []byte(allOn))
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, nobody)
		v.mustCall(t, "notebook", `{"action":"list"}`)
		for _, tl := range siyuan.Tools() {
			on := v.actionsOf(t, tl.Name)
			for _, a := range tl.Actions {
				if !slices.Contains(on, a.Name) {
					continue
				}
				_, rest, _ := strings.Cut(v.mustCall(t, tl.Name, `{"action":"help","topic":"`+a.Name+`"}`).text, "```json\n")
				args, _, found := strings.Cut(rest, "\n```")
				if !found || gjson.Get(args, "action").String() != a.Name {
					t.Errorf("%s.%s: its page has no example: %s", tl.Name, a.Name, args)
					continue
				}
				if got := v.call(t, tl.Name, args); !slices.Contains(fittingErrors, got.kind()) {
					t.Errorf("%s %s: %s", tl.Name, args, got.text)
				}
			}
		}
	})
}

// TestExamplesOnTheCommandLine types the examples for terminals into a shell, one for each shape
// of arguments: none is an error of usage.
func TestExamplesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell")
	}
	w := newWorld(t)
	w.Lenient()
	w.File(ownFolder+configFile, []byte(allOn))
	home := t.TempDir()
	env := append(os.Environ(),
		"PATH="+filepath.Dir(w.Collie)+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+home,
		"COLLIE_HOME="+home, "COLLIE_CONFIG="+w.settings, "SIYUAN_API_URL=", "SIYUAN_TOKEN=")
	seen, slots := map[string]bool{}, make(chan struct{}, 4)
	var wg sync.WaitGroup
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			if s := shape(a); tl.Off || seen[s] {
				continue
			} else {
				seen[s] = true
			}
			line := guide.CommandLine(a)
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				cmd := exec.CommandContext(t.Context(), shell, "-c", line+" --json")
				cmd.Env, cmd.Dir = env, home
				out, err := cmd.Output()
				if code := cmd.ProcessState.ExitCode(); code == 2 || code > 6 || err != nil && !isExit(err) {
					t.Errorf("%s: exit code %d, %v: %s", line, code, err, out)
				}
				if kind := gjson.GetBytes(out, "error.type").String(); !slices.Contains(append(fittingErrors, "disabled_error"), kind) {
					t.Errorf("%s: %s", line, out)
				}
			})
		}
	}
	wg.Wait()
	if len(seen) < 15 {
		t.Errorf("%d shapes: too few to show anything", len(seen))
	}
}

// shape describes the form of an example's command line: which arguments are positional, and the types of the others.
func shape(a *action.Action) string {
	var kinds []string
	gjson.Parse(a.Example).ForEach(func(k, v gjson.Result) bool {
		kind := v.Type.String()
		switch {
		case slices.Contains(a.Positional, k.String()):
			kind = "positional"
		case v.IsArray() && len(v.Array()) > 0:
			kind = "list of " + v.Array()[0].Type.String()
		case strings.ContainsAny(v.String(), " \\\"'$`\n"):
			kind += " to quote"
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		return true
	})
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}
