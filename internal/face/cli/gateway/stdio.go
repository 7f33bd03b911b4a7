package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/home"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/face/mcpserver"
	"collie/internal/face/mcpserver/bridge"
	"collie/internal/face/mcpserver/toolbox"
	"collie/internal/tool"
)

// This file has the command `collie stdio`, which clients start: it serves them from a running gateway, or alone.

// StdioCommand returns the command `collie stdio`.
func StdioCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	var profile string
	c := &cobra.Command{
		Use: "stdio", Short: "Serve one MCP client on stdin and stdout", Args: cobra.NoArgs,
		Long: "Serves the gateway to the MCP client that started this program, over stdin and stdout.\n" +
			"While \"collie serve\" runs in the same home, with the same settings, the client shares its\n" +
			"servers. \"collie connect CLIENT\" writes this command into a client's settings.",
		RunE: func(c *cobra.Command, _ []string) error { return p.stdio(c.Context(), profile) },
	}
	c.Flags().StringVar(&profile, "profile", "", "show the tools of view profile `NAME`")
	p.LocalFlag(c)
	return c
}

// stdio serves the client in one of three ways: an agent that Collie started gets the tools of its turn; another client shares
// the running gateway of this home if its settings and version are the same; otherwise the servers are started in this
// process.
func (p commands) stdio(ctx context.Context, profile string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log, err := p.Logger()
	if err != nil {
		return err
	}
	in := interruptible(p.In)
	if at := p.Env.Get(toolbox.Variable); at != "" {
		g, err := readTurnGateway(at)
		if err != nil {
			return err
		}
		return p.untilStopped(ctx, func() error {
			return bridge.Serve(ctx, in, p.Out, closer(in), g, bridge.Options{
				Find:   func(context.Context) (bridge.Gateway, error) { return bridge.Gateway{}, bridge.ErrOther },
				Open:   func(context.Context) (bridge.Opened, error) { return bridge.Opened{}, errTurnEnded },
				Logger: log,
			})
		})
	}
	if !p.Local {
		g, err := p.shared(ctx, profile)
		switch {
		case err == nil:
			return p.untilStopped(ctx, func() error {
				return bridge.Serve(ctx, in, p.Out, closer(in), g, bridge.Options{
					Find:   func(ctx context.Context) (bridge.Gateway, error) { return p.shared(ctx, profile) },
					Open:   func(context.Context) (bridge.Opened, error) { return p.alone(ctx, profile) },
					Logger: log,
				})
			})
		case errors.Is(err, bridge.ErrOther), errors.Is(err, errSilent):
			p.Note("the servers are started for this client alone: %v", err)
			p.logAlone(err)
		case !errors.Is(err, home.ErrNoGateway):
			return err
		}
	}
	var fit fitting
	a, err := p.Open(ctx, root.OpenOptions{Sweep: true, Computes: fit.computes})
	if err != nil {
		return err
	}
	defer p.Stop(a)
	defer p.followSettings(ctx, a)()
	defer p.limitProcessors(a, &fit)()
	face := mcpserver.New(a.Pipeline, mcpserver.Options{Version: p.Version, ListWait: a.ListWait(), Stopping: ctx.Done(), Logger: log})
	defer face.Close()
	return p.untilStopped(ctx, func() error {
		return face.ServeLines(ctx, in, p.Out, closer(in), pipeClient(profile))
	})
}

// errTurnEnded is the error for a call after its turn has ended: the tools were offered for that
// turn only.
var errTurnEnded = errors.New("the turn that these tools were for has ended")

// readTurnGateway parses the URL in [toolbox.Variable], at which an agent that Collie started for one turn of a conversation
// finds the tools of that turn.
func readTurnGateway(at string) (bridge.Gateway, error) {
	u, err := url.Parse(at)
	if err != nil || u.User == nil {
		return bridge.Gateway{}, root.Usage("%s is not the URL of a turn; it is set only for agents that collie starts", toolbox.Variable)
	}
	token, _ := u.User.Password()
	u.User = nil
	return bridge.Gateway{URL: u.String(), Key: token}, nil
}

// logAlone writes to the log file of the settings, if there is one, why a client does not share the servers
// of the gateway. Few clients show the stderr of the programs they start.
func (p commands) logAlone(why error) {
	cfg, err := p.Load()
	if err != nil || cfg.Log.File == "" {
		return
	}
	if log, err := p.GatewayLogger(cfg, ""); err == nil {
		log.Warn("the servers are started for one client alone", "reason", why)
	}
}

// untilStopped runs serve until it returns. After a signal it waits only briefly.
func (p commands) untilStopped(ctx context.Context, serve func() error) error {
	served := make(chan error, 1)
	go func() { served <- serve() }() // ends with the input, or at the latest with the process
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-served:
		return err
	case <-time.After(lastAnswers): // a terminal can block a read for ever
		return nil
	}
}

// pipeClient identifies the client that started this program.
func pipeClient(profile string) mcpserver.Client {
	return mcpserver.Client{Principal: root.Principal(), Origin: tool.MCPLocal, Profile: profile}
}

// errSilent says that a gateway is running but does not answer.
var errSilent = errors.New("the gateway of this home does not answer")

// shared finds the gateway whose servers this client can share: one with the same settings and version. It
// reads the settings again, because they may have changed together with the gateway.
func (p commands) shared(ctx context.Context, profile string) (bridge.Gateway, error) {
	cfg, err := p.Load()
	if err != nil {
		return bridge.Gateway{}, err
	}
	g, sameSettings, err := p.FindGateway(ctx, cfg)
	if err != nil {
		return bridge.Gateway{}, err
	}
	if !sameSettings {
		return bridge.Gateway{}, fmt.Errorf("%w: %s", bridge.ErrOther, p.OtherGateway(&g, cfg))
	}
	r := remote.New(cfg, g, nil)
	defer r.Close()
	if !r.Alive(ctx) {
		return bridge.Gateway{}, fmt.Errorf("%w: pid %d at %s", errSilent, g.PID, g.URL)
	}
	return bridge.Gateway{
		URL: g.URL + "/mcp?" + url.Values{"profile": {output.FirstNonEmpty(profile, "default")}}.Encode(), Key: g.Bridge,
		TLS: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: remote.Roots(cfg)},
	}, nil
}

// alone starts a gateway in this process, for a client whose gateway has ended.
func (p commands) alone(ctx context.Context, profile string) (bridge.Opened, error) {
	a, err := p.Open(ctx, root.OpenOptions{Sweep: true})
	if err != nil {
		return bridge.Opened{}, err
	}
	stop := p.followSettings(ctx, a)
	face := mcpserver.New(a.Pipeline, mcpserver.Options{Version: p.Version, ListWait: a.ListWait(), Stopping: ctx.Done()})
	return bridge.Opened{Serve: face.Streams(pipeClient(profile)), Close: func() {
		face.Close()
		stop()
		p.Stop(a)
	}}, nil
}

// lastAnswers is how long the last answers may take after a signal.
const lastAnswers = 2 * time.Second

// closer returns a function that closes the input, so that a waiting read ends. It is nil if the input cannot be closed.
func closer(r io.Reader) func() error {
	if c, ok := r.(io.Closer); ok {
		return c.Close
	}
	return nil
}
