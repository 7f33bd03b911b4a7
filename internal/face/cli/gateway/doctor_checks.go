package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/audit"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/mcp"
	"collie/internal/face/cli/root"
	"collie/internal/face/httpserver"
	"collie/internal/face/httpserver/tokens"
	auditadmin "collie/internal/pipeline/audit/admin"
	serveradmin "collie/internal/source/upstream/admin"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// This file has the checks of `collie doctor`.

// examine runs all checks, in the order in which a person would repair the problems.
func (p commands) examine(ctx context.Context) []check {
	checks := []check{{"collie", healthy, fmt.Sprintf("%s (%s, %s/%s)", p.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH), ""}}
	cfg, wrong, err := p.Settings()
	if err != nil {
		return append(checks, check{"settings", broken, err.Error(), ""})
	}
	checks = append(checks, p.checkSettings(cfg, wrong))
	d := cfg.Paths
	for _, f := range []struct {
		name, dir string
		private   bool
	}{{"config folder", d.Config, false}, {"state folder", d.State, true}, {"cache folder", d.Cache, false}, {"data folder", d.Data, false}, {"audit folder", cfg.Audit.Dir, true}} {
		checks = append(checks, checkFolder(f.name, f.dir, f.private))
	}
	checks = append(checks, checkToken(cfg), checkTokens(cfg), checkCache(cfg))
	gateway, running := p.checkGateway(ctx, cfg)
	checks = append(checks, gateway)
	if !running {
		checks = append(checks, checkPort(ctx, cfg))
	}
	checks = append(checks, checkPrograms(cfg, p.Env)...)
	return append(checks, checkAudit(ctx, cfg))
}

// checkSettings counts the errors and warnings in the settings, and says what the gateway would serve.
func (p commands) checkSettings(cfg *config.Config, wrong *config.Error) check {
	c := check{"settings", healthy, root.SettingsFile(cfg), ""}
	found := mcp.Findings(cfg, wrong, p.Env)
	faults := 0
	for _, f := range found {
		if f.Severity == config.SeverityError {
			faults++
		}
	}
	switch {
	case len(cfg.Files) == 0:
		c.add(locale.T("it does not exist yet"))
	case faults > 0:
		c.Health, c.Hint = broken, "collie mcp validate shows the places"
		c.add(locale.Count(faults, "error"))
	case len(found) > 0:
		c.Health, c.Hint = odd, "collie mcp validate shows the places"
		c.add(locale.Count(len(found), "warning"))
	}
	notes := ""
	if app.NotesOffered(cfg, p.Env, p.Kernel) {
		notes = locale.T("notes in SiYuan")
		if app.InsteadOfVault(cfg, p.Env, p.Kernel) == "" {
			notes = locale.T("notes in the built-in vault")
		}
	}
	switch {
	case c.Health != healthy:
	case len(cfg.Servers) > 0:
		c.add(locale.Count(len(cfg.Servers), "server"))
		c.add(notes)
	case notes != "":
		c.add(notes)
		c.add(locale.T("no MCP server"))
	default:
		c.Health, c.Hint = odd, locale.T("collie mcp add NAME -- COMMAND adds a server")
		c.add(locale.T("no MCP server configured"))
	}
	return c
}

// add adds a clause to the detail of a check; an empty clause adds nothing. Each clause is a text of the catalog, so that
// the detail can be translated for pages.
func (c *check) add(clause string) {
	if clause != "" {
		c.Detail += "; " + clause
	}
}

// checkCache checks the tool cache without changing it.
func checkCache(cfg *config.Config) check {
	path, fellBack := cacheadmin.CachePath(cfg)
	c := check{"tool cache", healthy, path, ""}
	if !cfg.Cache.Enabled {
		c.Health, c.Detail, c.Hint = odd, locale.T("switched off: every start asks every server"), "collie config set cache.enabled true"
		return c
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.add(locale.T("it has not been created yet"))
		return c
	case err != nil:
		c.Health, c.Detail = broken, err.Error()
		return c
	}
	if r := cacheadmin.Verify(data); !r.OK() {
		c.Health, c.Hint = odd, locale.T("collie cache verify shows the places; the next start sets a broken file aside and learns the tools again")
		c.add(locale.T("it is not as it should be"))
	} else {
		c.add(locale.Count(len(r.Servers), "server"))
	}
	if fellBack {
		c.add(locale.Sprintf("%s cannot be made", cfg.Cache.File))
	}
	return c
}

// checkFolder checks whether a folder, or the folder it would be created in, is writable, and whether others
// can read it although it should be private.
func checkFolder(name, dir string, private bool) check {
	c := check{name, healthy, dir, ""}
	there := dir
	for {
		info, err := os.Stat(there)
		switch up := filepath.Dir(there); {
		case errors.Is(err, fs.ErrNotExist) && up != there:
			there = up
			continue
		case err != nil:
			c.Health, c.Detail = broken, err.Error()
			return c
		case !info.IsDir():
			c.Health, c.Detail, c.Hint = broken, locale.Sprintf("%s is not a folder", there), locale.T("move it away")
			return c
		case there == dir && private && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
			c.Health, c.Hint = odd, "chmod 700 "+dir
			c.add(locale.Sprintf("it is accessible to others (mode %04o)", info.Mode().Perm()))
		}
		break
	}
	if there != dir {
		c.add(locale.T("it is created when needed"))
	}
	probe, err := os.CreateTemp(there, ".collie-doctor-*")
	if err != nil {
		c.Health, c.Detail, c.Hint = broken, locale.Sprintf("nothing can be written into %s", there), locale.T("check its owner and mode, or choose another home with --home")
		return c
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		c.Health, c.Detail = odd, err.Error()
	}
	return c
}

// checkToken checks the file of the first token.
func checkToken(cfg *config.Config) check {
	path := filepath.Join(cfg.Paths.State, "token")
	c := check{"token", healthy, path, ""}
	err := httpserver.CheckToken(path)
	switch e, ok := errors.AsType[*tool.Error](err); {
	case errors.Is(err, fs.ErrNotExist):
		c.Detail = locale.T("none yet; the first collie serve makes it")
	case ok:
		c.Health, c.Detail, c.Hint = broken, err.Error(), e.Hint
	case err != nil:
		c.Health, c.Detail = broken, err.Error()
	}
	return c
}

// checkTokens checks the named tokens, and whether others can read or write their file.
func checkTokens(cfg *config.Config) check {
	path := tokens.Path(cfg.Paths.State)
	c := check{"named tokens", healthy, path, ""}
	list, err := tokens.Read(path)
	switch e, ok := errors.AsType[*tool.Error](err); {
	case ok:
		c.Health, c.Detail, c.Hint = broken, err.Error(), e.Hint
	case list == nil:
		c.Detail = locale.T("none; collie token add NAME makes one")
	default:
		c.add(locale.Count(len(list), "token"))
	}
	for _, t := range list {
		if t.Profile != "" && !slices.Contains(app.KnownProfiles(cfg), t.Profile) {
			c.Health, c.Hint = odd, "collie token list"
			c.add(locale.Sprintf("%s is for profile %s, which is not in the settings", t.Name, t.Profile))
		}
	}
	return c
}

// checkGateway checks whether the gateway of this home answers and has the present settings. running reports whether there
// is a gateway.
func (p commands) checkGateway(ctx context.Context, cfg *config.Config) (check, bool) {
	g, err := home.FindGateway(cfg.Paths)
	if errors.Is(err, home.ErrNoGateway) {
		return check{"gateway", healthy, locale.T("none runs in this home"), ""}, false
	}
	if err != nil {
		return check{"gateway", broken, err.Error(), ""}, false
	}
	c := check{"gateway", healthy, locale.Sprintf("pid %d at %s, version %s", g.PID, g.URL, g.Version), ""}
	r, sameSettings, err := p.Gateway(ctx, cfg)
	switch e, ok := errors.AsType[*tool.Error](err); {
	case ok:
		c.Health, c.Detail, c.Hint = broken, e.Message, e.Hint
		return c, true
	case err != nil:
		c.Health, c.Detail = broken, err.Error()
		return c, true
	}
	defer r.Close()
	if !sameSettings {
		c.Health, c.Hint = odd, p.OtherGateway(&r.Gateway, cfg)
		c.add(locale.T("it has other settings than these"))
	}
	return c, true
}

// checkPort checks whether the address of the settings is free.
func checkPort(ctx context.Context, cfg *config.Config) check {
	c := check{"address", healthy, locale.Sprintf("%s is free", cfg.HTTP.Addr), ""}
	if e, ok := errors.AsType[*tool.Error](httpserver.Probe(ctx, cfg.HTTP.Addr)); ok {
		c.Health, c.Detail, c.Hint = broken, e.Error(), e.Hint
	}
	return c
}

// checkPrograms checks for each local server whether its program exists.
func checkPrograms(cfg *config.Config, env config.Env) []check {
	var out []check
	for _, prog := range serveradmin.Programs(cfg, env) {
		c := check{locale.Sprintf("server %s", prog.Server), healthy, locale.Sprintf("%s is %s", prog.Name, prog.Path), ""}
		if prog.Name == prog.Path {
			c.Detail = prog.Path
		}
		if prog.Err != nil {
			c.Health, c.Detail, c.Hint = broken, prog.Err.Error(), prog.Hint
		}
		out = append(out, c)
	}
	return out
}

// auditTime is how long checking the audit may take.
const auditTime = 5 * time.Second

// checkAudit verifies the records of the audit, as far as auditTime allows.
func checkAudit(ctx context.Context, cfg *config.Config) check {
	c := check{Name: "audit", Health: healthy}
	ctx, cancel := context.WithTimeout(ctx, auditTime)
	defer cancel()
	records := auditadmin.Open(cfg)
	report, err := records.Verify(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		c.Detail = locale.T("more records than can be checked quickly; collie audit verify checks all")
	case err != nil:
		c.Health, c.Detail = broken, err.Error()
	case !report.OK():
		c.Health, c.Detail, c.Hint = broken, locale.T("records were changed or are missing"), "collie audit verify shows which"
	case len(report.Chains) == 0:
		c.Detail = strings.TrimSpace(audit.Verdict(records.Dir(), &report))
	default:
		c.Detail = locale.Sprintf("intact: %s in %s", locale.Count(report.Records(), "record"), locale.Count(len(report.Chains), "chain"))
	}
	return c
}
