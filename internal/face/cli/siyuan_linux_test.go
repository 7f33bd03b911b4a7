package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/await"
	"collie/test/binary"
)

// runAtTerminal runs the program at a terminal. It types each answer when its question has appeared on the screen,
// and returns the exit code and everything shown. A program that does not end is made to print its
// goroutines.
func runAtTerminal(t *testing.T, program, home string, answers [][2]string, env []string, args ...string) (exit int, shown string) {
	t.Helper()
	person, terminal := openPTY(t)
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(os.Environ(), "COLLIE_HOME="+home, "HOME="+home, "SIYUAN_API_URL=", "TERM=xterm")
	cmd.Env = append(cmd.Env, env...)
	var screen bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { // ends when both the program and the test have closed the terminal
		buf := make([]byte, 4096)
		seen := 0
		for {
			n, err := person.Read(buf)
			screen.Write(buf[:n])
			if err != nil {
				return
			}
			if len(answers) == 0 {
				continue
			}
			// The question need not be last on the screen: a note may follow at the same time.
			if at := strings.Index(screen.String()[seen:], answers[0][0]); at >= 0 {
				seen += at + len(answers[0][0])
				_, _ = person.WriteString(answers[0][1])
				answers = answers[1:]
			}
		}
	})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	late := ctx.Err() != nil
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && !late {
		t.Fatal(err)
	}
	if state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS); err != nil || state.Lflag&unix.ECHO == 0 || state.Lflag&unix.ICANON == 0 {
		t.Errorf("the terminal is not as it was: %+v, %v", state, err)
	}
	_ = terminal.Close()
	reading.Wait()
	if late {
		t.Errorf("%q has not ended within %v:\n%s", args, await.Limit, &screen)
	}
	if len(answers) > 0 {
		t.Errorf("never asked %q:\n%s", answers[0][0], &screen)
	}
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(screen.String(), "\r\n", "\n")
}

// readSettings returns the settings file of a home, "" if there is none.
func readSettings(t *testing.T, home string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(home, "collie.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(raw)
}

// newHomeWithFileSecrets returns a home that keeps secrets in a file.
func newHomeWithFileSecrets(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "collie.json"), []byte(`{"secrets": {"store": "file"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestAtATerminal tests questions and output in sessions at a real terminal.
func TestAtATerminal(t *testing.T) {
	t.Parallel()
	program := binary.Build(t, binary.Collie)
	for name, run := range map[string]func(*testing.T, string){
		"init asks": testInitAsks, "init interrupted": testInitInterrupted, "pages are turned": testPagesAreTurned,
		"people are asked": testPeopleAreAsked, "what the vault has is offered": testInitOffersWhatTheVaultHas,
	} {
		t.Run(name, func(t *testing.T) { run(t, program) })
	}
}

// The wizard helps until the kernel answers: after a wrong scheme, a wrong port, a wrong token.
func testInitAsks(t *testing.T, program string) {
	t.Parallel()
	k := kerneltest.New(t)
	k.SetToken(true)
	k.Notebook("工作")
	home := newHomeWithFileSecrets(t)
	exit, shown := runAtTerminal(t, program, home, [][2]string{
		{"Name of this connection [default]: ", "笔记\n"},
		{"Address of the SiYuan kernel [http://127.0.0.1:6806]: ", "localhost:6806\n"},
		{"Address of the SiYuan kernel [http://127.0.0.1:6806]: ", "http://127.0.0.1:1\n"},
		{"Enter for none): ", "\n"},
		{"or quit (q)? [r]: ", "u\n"},
		{"Address of the SiYuan kernel [http://127.0.0.1:1]: ", k.URL() + "\n"},
		{"Enter for none): ", "wrong-token\n"},
		{"or quit (q)? [t]: ", "\n"},
		{"Enter for none): ", kerneltest.Token + "\n"},
	}, nil, "siyuan", "init")
	if exit != 0 {
		t.Fatalf("exit %d:\n%s", exit, shown)
	}
	for _, want := range []string{
		"write http://localhost:6806", " no SiYuan kernel answers at http://127.0.0.1:1", "start SiYuan",
		"does not accept the token", "Settings - About", "✓ SiYuan 3.7.3 at " + k.URL(), "saved connection 笔记",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("nothing says %q:\n%s", want, shown)
		}
	}
	for _, secret := range []string{"wrong-token", kerneltest.Token} {
		if strings.Contains(shown, secret) || strings.Contains(readSettings(t, home), secret) {
			t.Errorf("%s is to be seen:\n%s\n%s", secret, shown, readSettings(t, home))
		}
	}
	if got := readSettings(t, home); !strings.Contains(got, `"token": "${secret:siyuan_笔记}"`) || !strings.Contains(got, `"workspace": "/workspace"`) {
		t.Errorf("settings:\n%s", got)
	}

	// A port of another program is reported as such. An existing connection is replaced only after a yes.
	before := readSettings(t, home)
	k.Fail("/api/system/version", 1, kerneltest.FailGarbage)
	exit, shown = runAtTerminal(t, program, home, [][2]string{
		{"Name of this connection [default]: ", "笔记\n"},
		{"Replace it? [y/N] ", "\n"},
		{"Name of this connection [default]: ", "\n"},
		{"Address of the SiYuan kernel [" + k.URL() + "]: ", "\n"},
		{"Enter for none): ", "\n"},
		{"or quit (q)? [u]: ", "q\n"},
	}, nil, "siyuan", "init")
	if exit != 5 || !strings.Contains(shown, "the server there is not a SiYuan kernel") || !strings.Contains(shown, "another program has that port") {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
	if readSettings(t, home) != before {
		t.Errorf("something was saved:\n%s", readSettings(t, home))
	}
}

// Ctrl-C during a hidden question restores the terminal and saves nothing.
func testInitInterrupted(t *testing.T, program string) {
	t.Parallel()
	home := newHomeWithFileSecrets(t)
	exit, shown := runAtTerminal(t, program, home, [][2]string{
		{"Name of this connection [default]: ", "\n"},
		{"[http://127.0.0.1:6806]: ", "http://127.0.0.1:1\n"},
		{"Enter for none): ", "\x03"},
	}, nil, "siyuan", "init")
	if exit != 5 || !strings.Contains(shown, "nothing was saved") || strings.Contains(readSettings(t, home), "siyuan") {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
}

// Keys turn pages; --json shows only the requested page.
func testPagesAreTurned(t *testing.T, program string) {
	t.Parallel()
	k := kerneltest.New(t)
	notebook := k.Notebook("工作")
	k.Doc(notebook, "/计划", "一号\n\n二号\n\n三号\n\n四号\n\n五号")
	env := []string{"SIYUAN_API_URL=" + k.URL()}
	home := t.TempDir()
	args := []string{"fs", "search", "/工作", "号", "--page-size", "2"}
	key := func(page string) string { return "-- " + page + ": Enter next, p previous, q quit --" }
	exit, shown := runAtTerminal(t, program, home, [][2]string{
		{key("1/3"), "x\r"}, {key("2/3"), "p"}, {key("1/3"), "p"}, {key("1/3"), "n"}, {key("2/3"), "n"}, {key("3/3"), "\r"},
	}, env, args...)
	if exit != 0 {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
	var seen []string
	for _, m := range regexp.MustCompile(`[一二三四五]号`).FindAllString(shown, -1) {
		seen = append(seen, strings.TrimSuffix(m, "号"))
	}
	if got := strings.Join(seen, ""); got != "一二三四一二三四五" {
		t.Errorf("seen %s:\n%s", got, shown)
	}
	for _, end := range []string{"q", "\x1b", "\x03"} {
		if exit, shown := runAtTerminal(t, program, home, [][2]string{{key("1/3"), end}}, env, args...); exit != 0 || strings.Contains(shown, "三号") {
			t.Errorf("%q: exit %d:\n%s", end, exit, shown)
		}
	}
	if exit, shown := runAtTerminal(t, program, home, nil, env, append(args, "--json")...); exit != 0 || strings.Contains(shown, "Enter next") {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
	// While one of two documents cannot be read, on the first page or a later one, the exit code says so.
	k.Doc(notebook, "/又一篇", "一号\n\n二号\n\n三号\n\n四号\n\n五号")
	const read = "/api/block/getBlockKramdown"
	for whole, answers := range map[int][][2]string{0: {{key("1/3"), "q"}}, 2: {{key("1/5"), "n"}, {key("2/3"), "q"}}} {
		k.Fail(read, whole, "")
		k.Fail(read, 1, kerneltest.FailMessage("broken"))
		if exit, shown := runAtTerminal(t, program, home, answers, env, args...); exit != 6 {
			t.Errorf("%d reads, then one that fails: exit %d:\n%s", whole, exit, shown)
		}
	}
}

// A dangerous action and undo ask the person at the terminal.
func testPeopleAreAsked(t *testing.T, program string) {
	t.Parallel()
	k := kerneltest.New(t)
	notebook := k.Notebook("工作")
	k.Doc(notebook, "/计划", "第一稿")
	k.File("/data/storage/petal/collie/notebookPermissions", []byte(`{"`+notebook+`":"rwd"}`))
	env := []string{"SIYUAN_API_URL=" + k.URL()}
	home := t.TempDir()
	exit, shown := runAtTerminal(t, program, home, [][2]string{{"Run it? [y/N] ", "n\n"}}, env, "fs", "rm", "/工作/计划")
	if exit != 5 || !strings.Contains(shown, "targets:") {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
	if exit, shown = runAtTerminal(t, program, home, nil, env, "fs", "write", "/工作/计划", "第二稿", "--overwrite", "--args", `{"requestId":"write-0001"}`); exit != 0 {
		t.Fatalf("exit %d:\n%s", exit, shown)
	}
	if exit, shown = runAtTerminal(t, program, home, [][2]string{{"Put it back? [y/N] ", "\n"}}, env, "siyuan", "undo", "write-0001"); exit != 5 {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
	if exit, shown = runAtTerminal(t, program, home, [][2]string{{"Put it back? [y/N] ", "是\n"}}, env, "siyuan", "undo", "write-0001"); exit != 0 {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
	if _, shown = runAtTerminal(t, program, home, nil, env, "fs", "read", "/工作/计划"); !strings.Contains(shown, "第一稿") {
		t.Errorf("not put back:\n%s", shown)
	}
}

// When SiYuan is set up, the person is asked whether to carry over the levels of the vault. When its connection is removed,
// the person is asked whether to carry over SiYuan's switches to the vault.
func testInitOffersWhatTheVaultHas(t *testing.T, program string) {
	t.Parallel()
	home := newHomeWithFileSecrets(t)
	for _, args := range [][]string{{"notebook", "create", "--name", "工作"}, {"siyuan", "permission", "set", "工作", "rwd"}} {
		if exit, shown := runAtTerminal(t, program, home, nil, nil, args...); exit != 0 {
			t.Fatalf("%v: exit %d:\n%s", args, exit, shown)
		}
	}
	k := kerneltest.New(t)
	k.Notebook("工作")
	asked := [][2]string{
		{"Name of this connection [default]: ", "\n"},
		{"Address of the SiYuan kernel [http://127.0.0.1:6806]: ", k.URL() + "\n"},
		{"Enter for none): ", "\n"},
		{"The vault has level rwd of 工作. Carry that over to SiYuan? [y/N] ", "是\n"},
	}
	exit, shown := runAtTerminal(t, program, home, asked, nil, "siyuan", "init")
	if exit != 0 || !strings.Contains(shown, "carried over to SiYuan: level rwd of 工作") {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
	if _, shown = runAtTerminal(t, program, home, nil, nil, "siyuan", "permission", "get", "工作"); !strings.Contains(shown, "rwd") {
		t.Errorf("not carried:\n%s", shown)
	}
	if exit, shown = runAtTerminal(t, program, home, nil, nil, "siyuan", "config", "set", "tag", "off"); exit != 0 {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
	asked = [][2]string{{"SiYuan has switches of tools. Carry that over to the vault? [y/N] ", "\n"}}
	exit, shown = runAtTerminal(t, program, home, asked, nil, "siyuan", "connection", "remove", "default")
	if exit != 0 || !strings.Contains(shown, "nothing was carried over") {
		t.Errorf("exit %d:\n%s", exit, shown)
	}
	if _, shown = runAtTerminal(t, program, home, nil, nil, "vault", "info"); !strings.Contains(shown, "in use       yes") {
		t.Errorf("the vault does not serve:\n%s", shown)
	}
}

// Ctrl-D at a yes/no question means no, and the output says so. A restore that cannot be done is refused before any
// question.
func TestEndOfInputIsNo(t *testing.T) {
	t.Parallel()
	program, home := binary.Build(t, binary.Collie), t.TempDir()
	backup := filepath.Join(home, "b.db")
	for _, args := range [][]string{{"fs", "tree", "/"}, {"vault", "backup", backup}} {
		if exit, shown := runAtTerminal(t, program, home, nil, nil, args...); exit != 0 {
			t.Fatalf("%v: exit %d\n%s", args, exit, shown)
		}
	}
	exit, shown := runAtTerminal(t, program, home, [][2]string{{"[y/N] ", "\x04"}}, nil, "vault", "restore", backup)
	if exit != 5 || strings.Contains(shown, "[y/N] \x1b") || !strings.Contains(shown, "not accepted, nothing was changed") {
		t.Errorf("exit %d\n%s", exit, shown)
	}
	if exit, shown = runAtTerminal(t, program, home, nil, nil, "vault", "restore", backup+".no"); exit != 1 || strings.Contains(shown, "[y/N]") {
		t.Errorf("a backup that is not there: exit %d\n%s", exit, shown)
	}
}
