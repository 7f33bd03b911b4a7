package gateway

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// update is the flag that has TestUnits write the golden files.
var update = flag.Bool("update", false, "write the golden files")

// oddService is a service whose values are easily quoted wrongly.
func oddService(system bool) *serviceSpec {
	return &serviceSpec{
		system: system, program: "/opt/my tools/collie", account: "小李", folder: "/home/小李", uid: 501,
		args: []string{"serve", "--home", `/srv/100% "$HOME" \ <牧羊犬>&`, "--log-file", "/srv/logs/serve.log"},
		log:  "/srv/logs/serve.log", path: "/usr/bin:/opt/my tools",
	}
}

// The files and commands for each service manager are those of the golden files.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		goos   string
		system bool
		golden string
		file   string
	}{
		{"linux", false, "user.service", "/home/小李/.config/systemd/user/collie.service"},
		{"linux", true, "system.service", "/etc/systemd/system/collie.service"},
		{"darwin", false, "agent.plist", "/home/小李/Library/LaunchAgents/collie.plist"},
		{"darwin", true, "daemon.plist", "/Library/LaunchDaemons/collie.plist"},
		{"windows", false, "logon.xml", "/srv/logs/collie-task.xml"},
		{"windows", true, "boot.xml", "/srv/logs/collie-task.xml"},
	} {
		t.Run(tt.golden, func(t *testing.T) {
			t.Parallel()
			u, err := unitFor(tt.goos, oddService(tt.system))
			if err != nil {
				t.Fatal(err)
			}
			if got := filepath.ToSlash(u.file); got != tt.file {
				t.Errorf("file is %s, want %s", got, tt.file)
			}
			got := ""
			for _, c := range [][][]string{u.clear, u.install, u.stop, u.forget, {u.status}} {
				for _, words := range c {
					got += "$ " + strings.Join(words, " ") + "\n"
				}
			}
			got += strings.ReplaceAll(u.text, "\r\n", "\n")
			path := filepath.Join("testdata", "service", tt.golden)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := unitFor("plan9", oddService(false)); tool.KindOf(err) != tool.Unavailable {
		t.Errorf("plan9: %v", err)
	}
}

// An XML parser reads from the files for launchd and the Task Scheduler the words that were written into them.
func TestUnitsKeepTheWords(t *testing.T) {
	t.Parallel()
	s := oddService(false)
	for _, goos := range []string{"darwin", "windows"} {
		u, err := unitFor(goos, s)
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(u.text))
		d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
		var all strings.Builder
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if text, ok := token.(xml.CharData); ok {
				all.Write(text)
			}
		}
		want := s.args[2]
		if goos == "windows" {
			want = windowsWord(want)
		}
		if !strings.Contains(all.String(), want) {
			t.Errorf("%s: there is no %s in %s", goos, want, all.String())
		}
	}
}

// The file for the Task Scheduler is UTF-16 with a byte order mark.
func TestTaskIsUTF16(t *testing.T) {
	t.Parallel()
	b := taskUnit(oddService(false)).bytes()
	if len(b)%2 != 0 || b[0] != 0xff || b[1] != 0xfe || b[2] != '<' || b[3] != 0 {
		t.Errorf("it begins with % x", b[:4])
	}
}

// Words of a command line are quoted by the rules of Windows programs.
func TestWindowsWord(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`a`: `a`, ``: `""`, `a b`: `"a b"`, `C:\a b\`: `"C:\a b\\"`, `C:\a\`: `C:\a\`, `a"b`: `"a\"b"`, `a\" b`: `"a\\\" b"`,
	} {
		if got := windowsWord(in); got != want {
			t.Errorf("windowsWord(%q) = %s, want %s", in, got, want)
		}
	}
}

// systemdMissing says what keeps systemd from being used.
func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	have := func(paths ...string) func(string) bool {
		return func(path string) bool {
			for _, p := range paths {
				if p == filepath.ToSlash(path) {
					return true
				}
			}
			return false
		}
	}
	for _, tt := range []struct {
		name            string
		command, system bool
		dir             string
		exists          func(string) bool
		want            string
	}{
		{"no systemctl", false, false, "", have(), "no systemctl on this machine"},
		{"container", true, true, "", have(), "no /run/systemd/system"},
		{"su", true, false, "", have("/run/systemd/system"), "XDG_RUNTIME_DIR is not set"},
		{"no session", true, false, "/run/user/7", have("/run/systemd/system"), "there is no /run/user/7/systemd"},
		{"all there", true, false, "/run/user/7", have("/run/systemd/system", "/run/user/7/systemd"), ""},
		{"system", true, true, "", have("/run/systemd/system"), ""},
	} {
		got := filepath.ToSlash(systemdMissing(tt.command, tt.system, tt.dir, tt.exists))
		if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The output of each service manager is read as a state and a detail.
func TestManagerStates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		read          func(string, error) (string, string)
		out           string
		err           error
		state, detail string
	}{
		{systemdState, "ActiveState=active\nSubState=running\nResult=success\n", nil, stateActive, ""},
		{systemdState, "ActiveState=inactive\nSubState=dead\nResult=success\n", nil, "inactive", ""},
		{systemdState, "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\n", nil, "activating", "auto-restart (exit-code)"},
		{systemdState, "ActiveState=failed\nSubState=failed\nResult=start-limit-hit\n", nil, "failed", "(start-limit-hit)"},
		{systemdState, "", errors.New("no bus"), "unknown", "no bus"},
		{launchdState, "gui/501/collie = {\n\tstate = running\n\n\tpid = 5\n\tlast exit code = (never exited)\n}\n", nil, stateActive, ""},
		{launchdState, "x = {\n\tstate = spawn scheduled\n\tlast exit code = 1\n\tsub = {\n\t\tstate = running\n\t}\n}\n", nil, "spawn scheduled", "last exit code 1"},
		{launchdState, "", errors.New("113"), "inactive", "it is not registered with launchd: 113"},
		{taskState, "<Task/>", nil, stateRegistered, ""},
	} {
		if state, detail := tt.read(tt.out, tt.err); state != tt.state || detail != tt.detail {
			t.Errorf("of %q: %s, %q; want %s, %q", tt.out, state, detail, tt.state, tt.detail)
		}
	}
}

// runWithoutPath runs a command line in an empty home with an empty PATH.
func runWithoutPath(t *testing.T, args ...string) (code int, out, errw, home string) {
	t.Helper()
	p, o, e := newProgram("")
	home = t.TempDir()
	p.Env = config.EnvOf("HOME="+home, "USERPROFILE="+home, "PATH="+filepath.Join(home, "bin"))
	root := p.Root(ServiceCommand(p.Program))
	root.SetArgs(append(args, "--home", filepath.Join(home, "collie")))
	if err := root.ExecuteContext(t.Context()); err != nil {
		code = p.Report(err)
	}
	return code, o.String(), e.String(), home
}

// Without a service manager, the commands say so and write nothing; --print works all the same.
func TestServiceWhereThereIsNone(t *testing.T) {
	t.Parallel()
	code, out, errw, _ := runWithoutPath(t, "service", "status")
	if code != root.ExitFailed || !strings.Contains(out, "not installed") {
		t.Errorf("status: %d\n%s%s", code, out, errw)
	}
	if code, out, _, _ := runWithoutPath(t, "service", "status", "--json"); code != root.ExitFailed || !strings.Contains(out, `"installed":false`) {
		t.Errorf("status --json: %d %s", code, out)
	}
	if code, _, errw, _ := runWithoutPath(t, "service", "uninstall"); code != root.ExitFailed || !strings.Contains(errw, "no service is installed") {
		t.Errorf("uninstall: %d %s", code, errw)
	}
	code, out, errw, home := runWithoutPath(t, "service", "install")
	if code != root.ExitUnreachable || out != "" || !strings.Contains(errw, "does not run here, as in most containers") || !strings.Contains(errw, "--print shows") {
		t.Errorf("install without a manager: %d\n%s%s", code, out, errw)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	code, out, errw, home = runWithoutPath(t, "service", "install", "--print")
	if code != 0 || !strings.Contains(out, filepath.Join(home, "collie")) || !strings.Contains(errw, "nothing was written") {
		t.Errorf("--print: %d\n%s%s", code, out, errw)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("--print left %v, %v", left, err)
	}
	if code, _, errw, _ := runWithoutPath(t, "service", "install", "--user", "x"); code != root.ExitUsage {
		t.Errorf("--user alone: %d %s", code, errw)
	}
}
