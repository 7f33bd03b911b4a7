package gateway

import (
	"path/filepath"
	"strings"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
)

// This file describes the service to systemd.

// systemdUnit describes the service as a systemd unit, of the user or of the system.
//
// Only the gateway itself gets SIGTERM, because it ends its servers itself, within 12 s. A gateway that finds
// another one in its home exits with an error. After five such exits systemd gives up, so that the two do not
// compete for ever.
func systemdUnit(s *serviceSpec) *unit {
	const name = "collie.service"
	dir, ctl, target := "/etc/systemd/system", []string{"systemctl"}, "multi-user.target"
	account := ""
	if s.system && s.account != "" {
		account = "User=" + s.account + "\n"
	}
	if !s.system {
		config := s.config
		if config == "" {
			config = filepath.Join(s.folder, ".config")
		}
		dir, target = filepath.Join(config, "systemd", "user"), "default.target"
		ctl = append(ctl, "--user")
	}
	run := func(words ...string) []string { return append(append([]string{}, ctl...), words...) }
	command := []string{systemdQuote(s.program)} // systemd expands no variables in the path of a program
	for _, a := range s.args {
		command = append(command, systemdWord(a))
	}
	u := &unit{
		manager: "systemd", file: filepath.Join(dir, name),
		install: [][]string{run("daemon-reload"), run("enable", name), run("restart", name)},
		stop:    [][]string{run("disable", "--now", name)},
		forget:  [][]string{run("daemon-reload")},
		status:  run("show", "--property=ActiveState,SubState,Result", name),
		state:   systemdState, missing: systemdMissing,
	}
	if !s.system {
		u.advice = locale.T("; loginctl enable-linger keeps it running while you are not logged in")
	}
	u.text = unitText(
		"[Unit]",
		"Description=Collie, all your MCP servers behind one endpoint",
		"StartLimitIntervalSec=120",
		"StartLimitBurst=5",
		"",
		"[Service]",
		account+"ExecStart="+strings.Join(command, " "),
		"Environment="+systemdQuote("PATH="+s.path),
		"Restart=on-failure",
		"RestartSec=5",
		"KillMode=mixed",
		"TimeoutStopSec=20",
		"UMask=0077",
		"",
		"[Install]",
		"WantedBy="+target,
	)
	return u
}

// systemdQuote quotes a value: backslashes and quotes, and the percent sign of systemd's specifiers.
func systemdQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "%", "%%").Replace(s) + `"`
}

// systemdWord quotes a word of a command line, in which systemd also expands variables.
func systemdWord(s string) string { return strings.ReplaceAll(systemdQuote(s), "$", "$$") }

// systemdState parses the output of systemctl show.
func systemdState(out string, err error) (state, detail string) {
	if err != nil {
		return "unknown", err.Error()
	}
	found := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		found[key] = value
	}
	state = output.FirstNonEmpty(found["ActiveState"], "unknown")
	if sub := found["SubState"]; sub != "" && sub != "running" && sub != "dead" && sub != state {
		detail = sub
	}
	if result := found["Result"]; result != "" && result != "success" {
		detail = strings.TrimSpace(detail + " (" + result + ")")
	}
	return state, detail
}

// systemdMissing returns why systemd cannot be used; empty if it can.
func systemdMissing(command, system bool, runtimeDir string, exists func(string) bool) string {
	switch {
	case !command:
		return withoutCommand("systemd", "systemctl")
	case !exists("/run/systemd/system"):
		return locale.T("systemd is installed and does not run (there is no /run/systemd/system), as in most containers")
	case system:
		return ""
	case runtimeDir == "":
		return locale.T("the systemd of your account does not run: XDG_RUNTIME_DIR is not set, as after su or sudo")
	case !exists(filepath.Join(runtimeDir, "systemd")):
		return locale.Sprintf("the systemd of your account does not run: there is no %s", filepath.Join(runtimeDir, "systemd"))
	}
	return ""
}
