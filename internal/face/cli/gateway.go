package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

// gateway finds the gateway that runs in this home, for commands that are about it. The
// error is for a home in which none answers, or one of another version. same says that it
// has the settings of this command; the caller closes r.
func (p *program) gateway(ctx context.Context, cfg *config.Config) (r *remote, same bool, err error) {
	none := &tool.Error{
		Op: "ask the gateway", Kind: tool.Unavailable,
		Message: "no gateway runs in this home", Hint: "collie serve starts one",
	}
	g, same, err := p.findGateway(ctx, cfg)
	if err != nil {
		return nil, false, none
	}
	if g.Version != p.version {
		none.Message = p.otherVersion(&g)
		none.Hint = "restart it"
		return nil, false, none
	}
	if r = newRemote(cfg, g, nil); !r.alive(ctx) {
		r.Close()
		none.Message = fmt.Sprintf("the gateway of this home (pid %d) does not answer at %s", g.PID, g.URL)
		none.Hint = "restart it"
		return nil, false, none
	}
	return r, same, nil
}

// findGateway finds the gateway that runs in this home; same says that it has these settings, and
// this version. One that reads its settings where cfg came from and has not seen the newest is told
// to read them: else a command that follows a change would start servers of its own.
func (p *program) findGateway(ctx context.Context, cfg *config.Config) (g app.Gateway, same bool, err error) {
	g, err = app.FindGateway(cfg.Paths)
	if err != nil || g.Version != p.version {
		return g, false, err
	}
	if g.Digest != cfg.Digest() && p.readsAlike(&g, cfg) {
		r := newRemote(cfg, g, nil)
		r.reread(ctx)
		r.Close()
		if now, err := app.FindGateway(cfg.Paths); err == nil {
			g = now
		}
	}
	return g, g.Digest == cfg.Digest(), nil
}

// reread has the gateway read its settings. What comes of it stands in its file.
func (r *remote) reread(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, aliveTime)
	defer cancel()
	_, _ = r.do(ctx, http.MethodPost, "/settings/reread", []byte("{}")) // one that does not is another one
}

// readsAlike reports whether a gateway reads its settings where cfg was read.
func (p *program) readsAlike(g *app.Gateway, cfg *config.Config) bool {
	o := p.options()
	named, err := o.Named()
	return err == nil && slices.Equal(named, g.Settings) && app.ProjectFile(cfg) == g.Project
}

// otherGateway says of a gateway that has not the settings of this command how they differ, and
// what to do.
func (p *program) otherGateway(g *app.Gateway, cfg *config.Config) string {
	if g.Version != p.version {
		return p.otherVersion(g) + "; restart it"
	}
	who := fmt.Sprintf("the gateway that runs (pid %d) was started with other settings: ", g.PID)
	o := p.options()
	named, err := o.Named()
	switch {
	case err == nil && slices.Equal(named, g.Settings) && g.Project != app.ProjectFile(cfg):
		return who + "those of another project; restart it from here to share its servers"
	case err == nil && slices.Equal(named, g.Settings):
		return fmt.Sprintf("the gateway that runs (pid %d) has not taken up these settings; collie doctor says why, or restart it", g.PID)
	case len(g.Settings) == 0:
		return who + "those of its home; leave out --config to use them"
	}
	return who + "use them with" + asFlags(g.Settings)
}

// tellOther says that a gateway runs in this home whose settings are not these, if one does: what
// is missing here may be there.
func (p *program) tellOther(ctx context.Context, cfg *config.Config) {
	if g, same, err := p.findGateway(ctx, cfg); err == nil && !same {
		p.note("%s", p.otherGateway(&g, cfg))
	}
}

// tellOtherUnnamed is tellOther where nobody has asked for settings of a certain file.
func (p *program) tellOtherUnnamed(ctx context.Context) {
	o := p.options()
	if named, err := o.Named(); err != nil || named != nil || p.local {
		return
	}
	if cfg, err := p.load(); err == nil {
		p.tellOther(ctx, cfg)
	}
}

// asFlags is --config for each file, as one types it here.
func asFlags(files []string) string {
	var b strings.Builder
	for _, file := range files {
		b.WriteString(" --config " + shellQuote(nearby(file)))
	}
	return b.String()
}

// typed is a command of this program as one types it in this folder, with the same home and settings.
func (p *program) typed(command string) string { return p.typedWith(command, p.files) }

// typedWith is typed with other settings files.
func (p *program) typedWith(command string, files []string) string {
	name := "collie"
	if _, ok := p.inPath(); !ok && self() != "" {
		if name = nearby(self()); !strings.ContainsRune(name, filepath.Separator) {
			name = "." + string(filepath.Separator) + name
		}
		name = shellQuote(name)
	}
	if p.home != "" {
		command += " --home " + shellQuote(p.home)
	}
	return name + " " + command + asFlags(files)
}

// nearby is a path as one types it in the working folder: relative where it lies in there.
func nearby(path string) string {
	here, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func (p *program) otherVersion(g *app.Gateway) string {
	return fmt.Sprintf("the gateway that runs (pid %d) has version %s, this is %s", g.PID, g.Version, p.version)
}

// whatHelps is whatWas with what to do about it.
func whatHelps(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Hint != "" {
		return whatWas(err) + "; " + e.Hint
	}
	return whatWas(err)
}

// whatWas is what was wrong, without what was being done.
func whatWas(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Message != "" {
		return e.Message
	}
	return err.Error()
}
