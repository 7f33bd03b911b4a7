package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/process"
	"collie/internal/tool"
)

// This file has the command `collie service`, which has the system run a gateway from login or boot on.

// serviceFlags are the flags of the commands of `collie service`.
type serviceFlags struct {
	system, print bool
	user          string
}

// ServiceCommand returns the command `collie service`.
func ServiceCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	return root.Group("service", "Keep the gateway running", p.serviceInstallCommand(), p.serviceRestartCommand(), p.serviceUninstallCommand(), p.serviceStatusCommand())
}

func (p commands) serviceInstallCommand() *cobra.Command {
	var f serviceFlags
	c := &cobra.Command{
		Use: "install", Short: "Have the system run \"collie serve\" from now on", Args: cobra.NoArgs,
		Long: "Has the system run \"collie serve\" from now on, with the --home and --config of this command,\n" +
			"and restart it when it fails: through systemd, launchd or the Windows Task Scheduler. Its log\n" +
			"is <state>/logs/serve.log.",
		Example: "  collie service install\n  collie service install --print\n  sudo collie service install --system --home /var/lib/collie",
		RunE:    func(c *cobra.Command, _ []string) error { return p.serviceInstall(c.Context(), &f) },
	}
	systemFlag(c, &f)
	c.Flags().BoolVar(&f.print, "print", false, "only show the file that would be written")
	c.Flags().StringVar(&f.user, "user", "", "with --system, run as the user `NAME` (default: who called sudo)")
	return c
}

func (p commands) serviceUninstallCommand() *cobra.Command {
	var f serviceFlags
	c := &cobra.Command{
		Use: "uninstall", Short: "Stop the service and remove it", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.serviceUninstall(c.Context(), &f) },
	}
	systemFlag(c, &f)
	return c
}

func (p commands) serviceStatusCommand() *cobra.Command {
	var f serviceFlags
	c := &cobra.Command{
		Use: "status", Short: "Show whether the service is installed and running", Args: cobra.NoArgs,
		Long: "Shows whether the service is installed and runs. The exit code is 0 if it runs, 1 if it is\n" +
			"not installed, and 3 if it is installed and does not run.",
		RunE: func(c *cobra.Command, _ []string) error { return p.serviceStatus(c.Context(), &f) },
	}
	systemFlag(c, &f)
	return c
}

// systemFlag adds the flag --system.
func systemFlag(c *cobra.Command, f *serviceFlags) {
	c.Flags().BoolVar(&f.system, "system", false, "a machine-wide service instead of one for your account; needs root")
}

// service returns the description of a service for this program.
func (p commands) service(cfg *config.Config, f *serviceFlags) (*unit, error) {
	s := serviceSpec{
		system: f.system, program: p.Path(), path: p.Env.Get("PATH"), uid: os.Getuid(),
		log: filepath.Join(cfg.Paths.State, "logs", "serve.log"),
	}
	if s.program == "" {
		return nil, &tool.Error{Op: "service", Kind: tool.Internal, Message: "the path of this program is not known"}
	}
	args, err := p.StdioArgs("")
	if err != nil {
		return nil, err
	}
	s.args = append(append([]string{"serve"}, args[1:]...), "--log-file", s.log)
	if s.account = output.FirstNonEmpty(f.user, p.Env.Get("SUDO_USER")); !f.system && f.user != "" {
		return nil, root.Usage("--user needs --system: a service of your own account always runs as you")
	}
	if f.system && cfg.Paths.Home == "" {
		return nil, root.Usage("--system needs --home DIR: a machine-wide service has no user folders to fall back on")
	}
	s.folder = p.Env.First("HOME", "USERPROFILE")
	s.config = p.Env.Get("XDG_CONFIG_HOME")
	return unitFor(runtime.GOOS, &s)
}

const opService = "service install"

// serviceInstall writes the file for the service manager and starts the service.
func (p commands) serviceInstall(ctx context.Context, f *serviceFlags) error {
	cfg, wrong, err := p.Settings()
	if err != nil {
		return err
	}
	u, err := p.service(cfg, f)
	if err != nil {
		return err
	}
	if f.print {
		return p.printUnit(u)
	}
	if wrong != nil {
		return wrong // the service would only fail again and again
	}
	if err := p.checkServiceManager(u, f); err != nil {
		return err
	}
	if g, err := home.FindGateway(cfg.Paths); err == nil {
		p.Warn("a gateway already runs in this home (pid %d); unless it is this service, stop it: the service waits and tries again", g.PID)
	}
	if err := writeUnit(u, filepath.Join(cfg.Paths.State, "logs")); err != nil {
		return &tool.Error{Op: opService, Kind: tool.Denied, Subject: u.file, Err: err, Hint: needsRoot(f)}
	}
	_ = p.manage(ctx, opService, u.clear)
	if err := p.manage(ctx, opService, u.install); err != nil {
		return err
	}
	p.OnRecord(ctx, cfg, opService, map[string]any{"file": u.file, "system": f.system})
	if p.JSON {
		return p.PrintJSON(map[string]any{"file": u.file, "manager": u.manager, "installed": true})
	}
	if _, err := locale.Fprintf(p.Out, "installed %s\n", u.file); err != nil {
		return err
	}
	p.Note("collie service status shows what became of it%s", u.advice)
	return nil
}

func (p commands) printUnit(u *unit) error {
	if p.JSON {
		return p.PrintJSON(map[string]any{"file": u.file, "manager": u.manager, "content": u.text, "commands": u.install})
	}
	p.Note("nothing was written; this would be %s", u.file)
	_, err := fmt.Fprint(p.Out, u.text)
	return err
}

// writeUnit writes the file of a unit, and creates the folder for logs, since not every service manager does.
func writeUnit(u *unit, logs string) error {
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(u.file), 0o755); err != nil { //nolint:gosec // the service manager's folder must be readable by others
		return err
	}
	return os.WriteFile(u.file, u.bytes(), 0o644) //nolint:gosec // it holds no secret, and the system's service manager has to read it
}

// serviceUninstall stops the service and removes its file.
func (p commands) serviceUninstall(ctx context.Context, f *serviceFlags) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	u, err := p.service(cfg, &serviceFlags{system: f.system})
	if err != nil {
		return err
	}
	if !u.written() {
		return &tool.Error{
			Op: "service uninstall", Kind: tool.NotFound, Subject: u.file, Message: "no service is installed", Hint: otherService(f),
		}
	}
	if err := p.checkServiceManager(u, f); err != nil {
		return err
	}
	_ = p.manage(ctx, "service uninstall", u.clear)
	if err := p.manage(ctx, "service uninstall", u.stop); err != nil {
		return err
	}
	if err := os.Remove(u.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &tool.Error{Op: "service uninstall", Kind: tool.Denied, Subject: u.file, Err: err, Hint: needsRoot(f)}
	}
	if err := p.manage(ctx, "service uninstall", u.forget); err != nil {
		p.Warn("%v", err)
	}
	p.OnRecord(ctx, cfg, "service uninstall", map[string]any{"file": u.file, "system": f.system})
	if p.JSON {
		return p.PrintJSON(map[string]any{"file": u.file, "manager": u.manager, "installed": false})
	}
	_, err = locale.Fprintf(p.Out, "removed %s\n", u.file)
	return err
}

// serviceState is the output of service status.
type serviceState struct {
	Installed bool   `json:"installed"`
	State     string `json:"state"` // the service manager's word: active, inactive, failed, …
	Manager   string `json:"manager"`
	File      string `json:"file"`
	Log       string `json:"log"`
	Detail    string `json:"detail,omitempty"`
	// PID and URL are those of the gateway of this home, even if it was not started as the service.
	PID int    `json:"gatewayPid,omitempty"`
	URL string `json:"gatewayUrl,omitempty"`
}

// serviceStatus prints the state of the service. The exit code is 0 if it runs, 1 if it is not installed, else 3.
func (p commands) serviceStatus(ctx context.Context, f *serviceFlags) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	u, err := p.service(cfg, &serviceFlags{system: f.system})
	if err != nil {
		return err
	}
	s := serviceState{
		Installed: u.written(), State: locale.T("not installed"), Manager: u.manager, File: u.file,
		Log: filepath.Join(cfg.Paths.State, "logs", "serve.log"),
	}
	if g, err := home.FindGateway(cfg.Paths); err == nil {
		s.PID, s.URL = g.PID, g.URL
	}
	code := root.ExitFailed
	if s.Installed {
		code = root.ExitUnreachable
		s.State, s.Detail = p.managerState(ctx, u, f)
		if s.State == stateRegistered && s.PID > 0 {
			s.State = stateActive
		}
		if s.State == stateActive {
			code = 0
		}
	}
	if err := p.showService(&s); err != nil {
		return err
	}
	if code != 0 {
		return root.Exit(code)
	}
	return nil
}

func (p commands) showService(s *serviceState) error {
	if p.JSON {
		return p.PrintJSON(s)
	}
	rows := [][]string{{"state", s.State}, {"manager", s.Manager}, {"file", s.File}}
	if !s.Installed {
		rows[2][1] += locale.T(" (does not exist)")
	} else {
		rows = append(rows, []string{"log", s.Log})
	}
	if s.Detail != "" {
		rows = append(rows, []string{"detail", s.Detail})
	}
	if s.PID > 0 {
		rows = append(rows, []string{"gateway", locale.Sprintf("pid %d at %s", s.PID, s.URL)})
	}
	return p.Table(nil, rows)
}

// managerTimeout is how long a command of the service manager may take.
const managerTimeout = 30 * time.Second

// managerState asks the service manager for the state of the service.
func (p commands) managerState(ctx context.Context, u *unit, f *serviceFlags) (state, detail string) {
	if err := p.checkServiceManager(u, f); err != nil {
		return "unknown", root.ErrorText(err)
	}
	ctx, cancel := context.WithTimeout(ctx, managerTimeout)
	defer cancel()
	out, err := p.managed(ctx, u.status)
	return u.state(string(out), err)
}

// manage runs commands of the service manager in order.
func (p commands) manage(ctx context.Context, op string, commands [][]string) error {
	ctx, cancel := context.WithTimeout(ctx, managerTimeout)
	defer cancel()
	for _, c := range commands {
		if _, err := p.managed(ctx, c); err != nil {
			return &tool.Error{
				Op: op, Kind: tool.Unavailable, Subject: strings.Join(c, " "), Err: err,
				Hint: "run the command yourself to see more",
			}
		}
	}
	return nil
}

// managed runs one command of the service manager and returns its output.
func (p commands) managed(ctx context.Context, c []string) ([]byte, error) {
	return process.Output(ctx, process.Command{Label: c[0], Name: c[0], Args: c[1:], Env: p.Env.List()}, 1<<20, nil)
}

// checkServiceManager returns an error if the service manager cannot be used.
func (p commands) checkServiceManager(u *unit, f *serviceFlags) error {
	_, err := process.Resolve(u.status[0], p.Env.List(), "")
	missing := u.missing(err == nil, f.system, p.Env.Get("XDG_RUNTIME_DIR"), exists)
	if missing == "" {
		return nil
	}
	hint := locale.T("run \"collie serve\" under what keeps programs running here, or in a terminal; --print shows what would be written")
	if !f.system && strings.Contains(missing, "account") {
		hint = locale.T("log in to a session of your own, or have root run: loginctl enable-linger; else run \"collie serve\" in a terminal")
	}
	return &tool.Error{Op: "service", Kind: tool.Unavailable, Subject: u.manager, Message: missing, Hint: hint}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// needsRoot returns the hint for a failure with --system; otherwise "".
func needsRoot(f *serviceFlags) string {
	if f.system {
		return locale.T("--system needs root: sudo collie service … --system")
	}
	return ""
}

// otherService returns the hint that --system, or leaving it out, selects another service.
func otherService(f *serviceFlags) string {
	if f.system {
		return locale.T("without --system the service of your account is meant")
	}
	return locale.T("--system means the one of the machine")
}
