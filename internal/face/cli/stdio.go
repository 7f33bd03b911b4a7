package cli

import (
	"context"
	"io"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/mcpserver"
	"collie/internal/tool"
)

func (p *program) stdioCommand() *cobra.Command {
	var profile string
	c := &cobra.Command{
		Use: "stdio", Short: "Serve one MCP client on stdin and stdout", Args: cobra.NoArgs,
		Long: "Serves the gateway to the MCP client that started this program, over stdin and stdout.\n" +
			"\"collie connect CLIENT\" writes this command into a client's settings.",
		RunE: func(c *cobra.Command, _ []string) error { return p.stdio(c.Context(), profile) },
	}
	c.Flags().StringVar(&profile, "profile", "", "show the tools of view profile `NAME`")
	return c
}

// stopTime bounds the stop of the servers; what is left after it is killed (4.9).
const stopTime = 12 * time.Second

func (p *program) stdio(ctx context.Context, profile string) error {
	a, err := p.open(ctx, openOptions{sweep: true})
	if err != nil {
		return err
	}
	defer p.close(a)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	face := mcpserver.New(a.Road, mcpserver.Options{Version: p.version, Stopping: ctx.Done()})
	defer face.Close()
	return face.ServeLines(ctx, p.in, p.out, closer(p.in), mcpserver.Client{
		Principal: principal(), Origin: tool.MCPLocal, Profile: profile,
	})
}

// closer closes the input, so that a read that waits for it ends.
func closer(r io.Reader) func() error {
	if c, ok := r.(io.Closer); ok {
		return c.Close
	}
	return nil
}

// principal is the user of the operating system.
func principal() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}

type openOptions struct {
	servers []string // nil: all
	sweep   bool
}

// open reads the settings and joins the parts.
func (p *program) open(ctx context.Context, o openOptions) (*app.App, error) {
	cfg, err := p.load()
	if err != nil {
		return nil, err
	}
	log, err := p.logger()
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, cfg, app.Options{
		Version: p.version, Self: self(), GuardArgs: []string{guardName}, Servers: o.servers, Sweep: o.sweep,
		Env: p.env, Logger: log,
	})
}

// close stops everything.
func (p *program) close(a *app.App) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := a.Close(ctx); err != nil {
		p.warn("stop: %v", err)
	}
}
