package cli

import (
	"context"
	"errors"
	"fmt"

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
	g, err := app.FindGateway(cfg.Paths)
	if err != nil {
		return nil, false, none
	}
	if g.Version != p.version {
		none.Message = fmt.Sprintf("the gateway that runs (pid %d) has version %s, this is %s", g.PID, g.Version, p.version)
		none.Hint = "restart it"
		return nil, false, none
	}
	if r = newRemote(cfg, g, nil); !r.alive(ctx) {
		r.Close()
		none.Message = fmt.Sprintf("the gateway of this home (pid %d) does not answer at %s", g.PID, g.URL)
		none.Hint = "restart it"
		return nil, false, none
	}
	return r, g.Digest == cfg.Digest(), nil
}

// whatWas is what was wrong, without what was being done.
func whatWas(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Message != "" {
		return e.Message
	}
	return err.Error()
}
