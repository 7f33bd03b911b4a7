package gateway

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/process"
	"collie/internal/tool"
)

// This file has the command `collie service restart`, and replaces a gateway that somebody started by hand.

const opRestart = "service restart"

func (p commands) serviceRestartCommand() *cobra.Command {
	var f serviceFlags
	c := &cobra.Command{
		Use: "restart", Short: "Replace the running gateway by one of this version", Args: cobra.NoArgs,
		Long: "Ends the gateway of this home and starts one of this version, with the same settings and at the\n" +
			"same address: after an upgrade, say. A gateway that the system keeps running is restarted by the\n" +
			"system; one that was started by hand runs in the background from then on. Clients that were\n" +
			"connected through \"collie stdio\" stay connected.",
		RunE: func(c *cobra.Command, _ []string) error { return p.serviceRestart(c.Context(), &f) },
	}
	systemFlag(c, &f)
	return c
}

// How long the old gateway may take to end, and the new one to answer.
const (
	endLimit   = 30 * time.Second // a gateway ends its servers first
	startLimit = 60 * time.Second
)

// serviceRestart restarts the gateway through the service manager if that runs it, and otherwise replaces its process.
func (p commands) serviceRestart(ctx context.Context, f *serviceFlags) error {
	cfg, wrong, err := p.Settings()
	if err != nil {
		return err
	}
	if wrong != nil {
		return wrong // the new gateway would not start
	}
	u, err := p.service(cfg, f)
	if err != nil {
		return err
	}
	old, err := home.FindGateway(cfg.Paths)
	running := err == nil
	if err != nil && !errors.Is(err, home.ErrNoGateway) {
		return err
	}
	managed := false
	if p.checkServiceManager(u, f) == nil {
		state, _ := p.managerState(ctx, u, f)
		managed = state == stateActive || u.written()
	}
	switch {
	case managed:
		_ = p.manage(ctx, opRestart, u.clear)
		err = p.manage(ctx, opRestart, u.install)
	case !running:
		err = &tool.Error{Op: opRestart, Kind: tool.NotFound, Message: "no gateway runs in this home", Hint: "collie serve starts one, collie service install keeps it running"}
	default:
		err = p.replace(ctx, cfg, &old)
	}
	if err != nil {
		return err
	}
	now, err := awaitGateway(ctx, cfg, old.Started)
	if err != nil {
		return err
	}
	p.OnRecord(ctx, cfg, opRestart, map[string]any{"version": now.Version, "was": old.Version})
	if p.JSON {
		return p.PrintJSON(map[string]any{"pid": now.PID, "url": now.URL, "version": now.Version, "was": old.Version})
	}
	_, err = locale.Fprintf(p.Out, "the gateway runs again: pid %d at %s, version %s\n", now.PID, now.URL, now.Version)
	return err
}

// replace ends a gateway that somebody started by hand, and starts another at its address.
func (p commands) replace(ctx context.Context, cfg *config.Config, old *home.Gateway) error {
	o := p.Options()
	if named, err := o.Named(); err != nil || !slices.Equal(named, old.Settings) {
		return root.Usage("the running gateway (pid %d) has other settings: collie service restart%s", old.PID, root.AsFlags(old.Settings))
	}
	// After a gateway was killed, another process may have the pid in its gateway.json.
	r := remote.New(cfg, *old, nil)
	alive := r.Alive(ctx)
	r.Close()
	if !alive {
		return &tool.Error{Op: opRestart, Kind: tool.Unavailable, Subject: old.URL, Message: "the gateway of this home does not answer", Hint: "end it yourself, then run collie serve"}
	}
	if err := process.Terminate(old.PID); err != nil {
		return &tool.Error{Op: opRestart, Kind: tool.Unavailable, Message: locale.Sprintf("the running gateway (pid %d) cannot be ended from here", old.PID), Err: err, Hint: "end it yourself, then run collie serve"}
	}
	if err := every(ctx, endLimit, func() bool { return !process.Alive(old.PID) }); err != nil {
		return &tool.Error{Op: opRestart, Kind: tool.Timeout, Message: locale.Sprintf("the running gateway (pid %d) does not end", old.PID), Err: err}
	}
	args, err := p.StdioArgs("")
	if err != nil {
		return err
	}
	args = append([]string{"serve"}, args[1:]...)
	args = append(args, "--log-file", filepath.Join(cfg.Paths.State, "logs", "serve.log"))
	if at, err := url.Parse(old.URL); err == nil {
		args = append(args, "--http", at.Host)
	}
	if old.Flags == nil {
		p.Warn("the old gateway did not write down the flags of collie serve: if it had --profile, --tls-cert, --tls-key or --parent-pid, end the new one and start it with them")
	}
	args = append(args, old.Flags...)
	return process.Launch(process.Command{Name: p.Path(), Args: args, Env: p.Env.List()}, time.Second)
}

// awaitGateway waits until a gateway answers that was started later than after.
func awaitGateway(ctx context.Context, cfg *config.Config, after time.Time) (now home.Gateway, err error) {
	err = every(ctx, startLimit, func() bool {
		g, err := home.FindGateway(cfg.Paths)
		if err != nil || !g.Started.After(after) {
			return false
		}
		r := remote.New(cfg, g, nil)
		defer r.Close()
		now = g
		return r.Alive(ctx)
	})
	if err != nil {
		return now, &tool.Error{
			Op: opRestart, Kind: tool.Timeout, Message: "the new gateway has not started", Err: err,
			Hint: "read " + filepath.Join(cfg.Paths.State, "logs", "serve.log"),
		}
	}
	return now, nil
}

// every calls done every 50 ms until it returns true. The error is that of ctx, or that of the limit.
func every(ctx context.Context, limit time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
