package acceptance_test

import (
	"slices"
	"testing"

	"collie/test/gateway"
)

// allOn is a tool config that switches on the actions that are off by default, dangerous ones
// included.
const allOn = `{"document":{"actions":{"remove":true}},"block":{"actions":{"delete":true}},"notebook":{"actions":{"remove":true,"set_permission":true}}}`

// dangerousCalls are calls of dangerous actions that would do something.
func (w *world) dangerousCalls() map[string][2]string {
	return map[string][2]string{ // the question's subject → tool, arguments
		"/Work/Plan/Budget": {"fs", `{"action":"rm","path":"/Work/Plan/Budget"}`},
		"/Work/Plan":        {"document", `{"action":"remove","id":"` + w.plan + `"}`},
		"notebook Work":     {"notebook", `{"action":"remove","notebook":"` + w.work + `"}`},
	}
}

// TestDangerousCalls makes dangerous calls in each era, from clients whose person agrees, refuses
// or cannot be asked. Without a yes nothing is written.
func TestDangerousCalls(t *testing.T) {
	t.Parallel()
	for _, version := range []string{legacy, modern} {
		for _, who := range []personAnswer{nobody, refuses, agrees} {
			t.Run(version+" "+string(who), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.File(ownFolder+configFile, []byte(allOn))
				v := openSession(t, w.serve(t), version, who)
				v.mustCall(t, "notebook", `{"action":"list"}`)
				for what, call := range w.dangerousCalls() {
					if who == agrees && what != "/Work/Plan/Budget" {
						continue
					}
					got := v.call(t, call[0], call[1])
					if who != nobody {
						if len(v.asked) != 1 {
							t.Fatalf("%s: %d questions", what, len(v.asked))
						}
						wantWords(t, "the question", <-v.asked, what)
					}
					want := map[personAnswer]string{nobody: "confirmation_needed", refuses: "confirmation_declined"}[who]
					if got.kind() != want || got.failed != (want != "") {
						t.Errorf("%s: want type %q, got %s", call[1], want, got.text)
					}
					if code := got.Get("error.confirmationCode").String(); (code != "") != (who == nobody) {
						t.Errorf("%s: code %q", call[1], code)
					}
				}
				if who != agrees {
					w.wantNoWrites(t)
				} else if got := endpointsOf(w.Writes()); !slices.Equal(got, []string{"filetree/removeDocByID"}) {
					t.Errorf("writes %v", got)
				}

				// A call that the levels refuse raises no question.
				v.wantRefused(t, "fs", `{"action":"rm","path":"/Reading/Book"}`, "permission_denied")
				v.wantRefused(t, "fs", `{"action":"rm","path":"/`+hiddenWord+`/`+hiddenWord+` plan"}`, "not_found")
				if len(v.asked) > 0 {
					t.Errorf("asked %q", <-v.asked)
				}
			})
		}
	}
}

// TestCodeIsNotAConfirmation gives the code back in the ways that a model might think of.
func TestCodeIsNotAConfirmation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.serve(t)
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, nobody)
		const args = `{"action":"rm","path":"/Work/Plan"`
		code := v.wantRefused(t, "fs", args+`}`, "confirmation_needed").Get("error.confirmationCode").String()
		for _, more := range []string{`,"confirm":true`, `,"code":"` + code + `"`, `,"confirmationCode":"` + code + `"`, `,"yes":true`} {
			if got := v.call(t, "fs", args+more+`}`); !got.failed {
				t.Errorf("%s: %s", more, got.text)
			}
		}
		v.wantRefused(t, "fs", args+`}`, "confirmation_needed")
		w.wantNoWrites(t)
	})
}

// TestDangerousCallsOnTheCommandLine makes the same calls from scripts: without a terminal, only --yes confirms them.
func TestDangerousCallsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"fs rm":           {"fs", "rm", "/Work/Plan"},
		"document remove": {"document", "remove", "--id", "PLAN"},
		"set_permission":  {"notebook", "set-permission", "--notebook", "READING", "--permission", "rw"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.File(ownFolder+configFile, []byte(allOn))
			args := slices.Clone(args)
			for i, a := range args {
				switch a {
				case "PLAN":
					args[i] = w.plan
				case "READING":
					args[i] = w.reading
				}
			}
			got := w.runCLI(t, args...)
			got.wantCode(t, 5)
			wantWords(t, "stderr", got.errs, "--yes")
			w.wantNoWrites(t)
			w.runCLI(t, append(args, "--yes")...).wantCode(t, 0)
			if n := len(w.Writes()); n != 1 {
				t.Errorf("--yes: writes %v", endpointsOf(w.Writes()))
			}
		})
	}
}

// TestSetPermissionIsForPeople tries to raise permissions over every interface that is not a person's. The action is
// not listed although the config switches it on, and a call of it writes nothing.
func TestSetPermissionIsForPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.File(ownFolder+configFile, []byte(allOn))
	g := w.serve(t)
	raise := `"notebook":"` + w.reading + `","permission":"rwd"`
	eachEra(t, func(t *testing.T, version string) {
		v := openSession(t, g, version, agrees)
		v.mustCall(t, "notebook", `{"action":"list"}`)
		if got := v.actionsOf(t, "notebook"); slices.Contains(got, "set_permission") || !slices.Contains(got, "remove") {
			t.Errorf("listed: %v", got)
		}
		for _, name := range []string{"set_permission", "set-permission"} {
			v.wantRefused(t, "notebook", `{"action":"`+name+`",`+raise+`}`, "permission_denied")
		}
		for _, name := range []string{"notebook/set_permission", "notebook.set_permission"} {
			v.wantRefused(t, name, `{`+raise+`}`, "permission_denied")
		}
		if len(v.asked) > 0 {
			t.Errorf("asked %q", <-v.asked)
		}
		w.wantNoWrites(t)
	})
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		for _, home := range []string{t.TempDir(), g.Home} { // standalone, and through the gateway of its home
			_, c := w.DialStdio(t, gateway.Legacy, home, w.settings)
			_, err := c.Tool(t.Context(), "notebook", `{"action":"set_permission",`+raise+`}`)
			if got := gateway.TypeOf(err); got != "permission_denied" {
				t.Errorf("over stdio: %v", err)
			}
		}
		w.wantNoWrites(t)
	})
}

// TestConfigFileIsOutOfReach tries to write the files of levels and switches with the
// tools that write files.
func TestConfigFileIsOutOfReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := openSession(t, w.serve(t), modern, agrees)
	for _, path := range []string{ownFolder + levelsFile, pluginFolder + configFile} {
		for _, args := range [][2]string{
			{"file", `{"action":"delete_asset","path":"` + path + `"}`},
			{"file", `{"action":"rename_asset","oldPath":"` + path + `","newName":"x"}`},
			{"fs", `{"action":"write","path":"` + path + `","markdown":"{}"}`},
		} {
			if got := v.call(t, args[0], args[1]); !got.failed {
				t.Errorf("%s: %s", args[1], got.text)
			}
		}
	}
	w.wantNoWrites(t)
}
