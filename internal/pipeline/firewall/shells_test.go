package firewall_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/pipeline/firewall"
)

var scriptsFlag = flag.Int("scripts", 3000, "how many scripts TestShellsAgree makes")

// scriptTokens are put together to scripts. The program payload is the only one that there is.
var scriptTokens = []string{
	"payload", "payload", "$(payload)", "`payload`", "echo", "echo ", ":", "x=", "x", "y", "a", "a=(", ")", "(", "((", "))", "[[ ", " ]]", "[ ", " ]", "{ ", "; }", "{", "}", ",",
	" ", " ", " ", "\n", "\n", ";", "; ", "&&", "||", " || ", "|", "&", "!", "#", " # ", "'", "'", "\"", "\"", "\\", "\\\n", "$", "${x", "${x:-", "${x:+", "${x/", "}", "\"${x:-'", "$'", "$\"",
	"<<E\n", "<<-E\n", "<<'E'\n", "<<\"E\"\n", "<<E", "\nE\n", "E", "E\n", "<<<", "<(", ">(", "@(", "!(", "*(", "=", "==", "-", "--", "1", "if true; then ", "; fi", "for x in ", "; do ", "; done",
	"case x in ", " x) ", ";; esac", "while false", "function f ", "f() ", "\t", "~", "*", "?", "[", "]", "$((", "$[", "..", "eval ", "test ", "printf %s ", "true ", "false ", "exit", "\r", "\\'", "\\\"",
}

// No shell runs a command of a script in which the firewall has seen none.
func TestShellsAgree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	marker, bin := filepath.Join(dir, "ran"), filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "payload"), []byte("#!/bin/sh\n: >"+marker+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var shells []string
	for _, name := range []string{"bash", "dash", "zsh", "ksh"} {
		if file, err := exec.LookPath(name); err == nil {
			shells = append(shells, file)
		}
	}
	if len(shells) == 0 {
		t.Skip("this system has none of the shells")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, shells %v", seed, shells)
	r, allowed := rand.New(rand.NewPCG(seed, 0)), 0
	for range *scriptsFlag {
		script := randomScript(r)
		if judge(newShellCall(t, script)).Decision != firewall.Allow {
			continue
		}
		allowed++
		for _, shell := range shells {
			runIn(t, shell, script, dir, bin)
			if _, err := os.Stat(marker); err == nil {
				t.Fatalf("%s runs the payload of %q", shell, script)
			}
		}
	}
	if allowed < *scriptsFlag/100 {
		t.Errorf("only %d of %d scripts were allowed: the tokens test too little", allowed, *scriptsFlag)
	}
}

// randomScript begins with a harmless command, so that a fair part of the scripts is allowed.
func randomScript(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString([]string{"echo ", "x=1; echo ", ": ", "echo \"", "cat <<E\n", "[[ ", "x=("}[r.IntN(7)])
	for range 1 + r.IntN(9) {
		b.WriteString(scriptTokens[r.IntN(len(scriptTokens))])
	}
	return b.String()
}

// runIn runs a script in a folder with programs of bin alone. How it ends does not matter.
func runIn(t *testing.T, shell, script, dir, bin string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, "-c", script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, []string{"PATH=" + bin, "HOME=" + dir}, time.Second
	_ = cmd.Run()
}
