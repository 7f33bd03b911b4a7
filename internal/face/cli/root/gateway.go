package root

import (
	"context"
	"slices"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/remote"
	"collie/internal/tool"
)

// This file finds the gateway that runs in this home.

// Gateway returns a client for the gateway that is running in this home. It returns an error if no gateway answers, or
// if the gateway has another version than this program. sameSettings reports whether the gateway has the settings of
// this command. The caller closes r.
func (p *Program) Gateway(ctx context.Context, cfg *config.Config) (r *remote.Client, sameSettings bool, err error) {
	none := &tool.Error{
		Op: "ask the gateway", Kind: tool.Unavailable,
		Message: "no gateway runs in this home", Hint: "collie serve starts one",
	}
	g, sameSettings, err := p.FindGateway(ctx, cfg)
	if err != nil {
		return nil, false, none
	}
	if g.Version != p.Version {
		none.Message = p.otherVersion(&g)
		none.Hint = "collie service restart replaces it"
		return nil, false, none
	}
	if r = remote.New(cfg, g, nil); !r.Alive(ctx) {
		r.Close()
		none.Message = locale.Sprintf("the gateway of this home (pid %d) does not answer at %s", g.PID, g.URL)
		none.Hint = "restart it"
		return nil, false, none
	}
	return r, sameSettings, nil
}

// FindGateway finds the gateway that is running in this home. sameSettings reports whether it has the settings in cfg
// and the version of this program. If the gateway reads the same files as cfg but has older content, FindGateway tells
// it to read them again; otherwise a command that follows a change would start servers of its own.
func (p *Program) FindGateway(ctx context.Context, cfg *config.Config) (g home.Gateway, sameSettings bool, err error) {
	g, err = home.FindGateway(cfg.Paths)
	if err != nil || g.Version != p.Version {
		return g, false, err
	}
	if g.Digest != cfg.Digest() && p.readsAlike(&g, cfg) {
		r := remote.New(cfg, g, nil)
		r.Reread(ctx)
		r.Close()
		if now, err := home.FindGateway(cfg.Paths); err == nil {
			g = now
		}
	}
	return g, g.Digest == cfg.Digest(), nil
}

// readsAlike reports whether a gateway reads the same settings files as cfg.
func (p *Program) readsAlike(g *home.Gateway, cfg *config.Config) bool {
	o := p.Options()
	named, err := o.Named()
	return err == nil && slices.Equal(named, g.Settings) && home.ProjectFile(cfg) == g.Project
}

// OtherGateway says how the settings of a gateway differ from those of this command, and what to do.
func (p *Program) OtherGateway(g *home.Gateway, cfg *config.Config) string {
	if g.Version != p.Version {
		return locale.Sprintf("%s; replace it with collie service restart", p.otherVersion(g))
	}
	message := locale.Sprintf("the running gateway (pid %d) was started with other settings: ", g.PID)
	o := p.Options()
	named, err := o.Named()
	switch {
	case err == nil && slices.Equal(named, g.Settings) && g.Project != home.ProjectFile(cfg):
		return locale.Sprintf("%sthose of another project; restart it from here to share its servers", message)
	case err == nil && slices.Equal(named, g.Settings):
		return locale.Sprintf("the running gateway (pid %d) has not applied these settings; collie doctor says why, or restart it", g.PID)
	case len(g.Settings) == 0:
		return locale.Sprintf("%sthose of its home; leave out --config to use them", message)
	}
	return locale.Sprintf("%suse them with%s", message, AsFlags(g.Settings))
}

// TellOther prints a note if a gateway with other settings is running in this home, because it may have what the person
// misses here.
func (p *Program) TellOther(ctx context.Context, cfg *config.Config) {
	if g, sameSettings, err := p.FindGateway(ctx, cfg); err == nil && !sameSettings {
		p.Note("%s", p.OtherGateway(&g, cfg))
	}
}

// TellOtherUnnamed is like TellOther, if no settings files were named.
func (p *Program) TellOtherUnnamed(ctx context.Context) {
	o := p.Options()
	if named, err := o.Named(); err != nil || named != nil || p.Local {
		return
	}
	if cfg, err := p.Load(); err == nil {
		p.TellOther(ctx, cfg)
	}
}

// otherVersion says which version the gateway has and which one this program has.
func (p *Program) otherVersion(g *home.Gateway) string {
	return locale.Sprintf("the running gateway (pid %d) has version %s, this is %s", g.PID, g.Version, p.Version)
}
