package cli

import (
	"context"
	"io"
	"log/slog"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
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
	in := interruptible(p.in)
	served := make(chan error, 1)
	go func() { // ends with the input, at the latest with the program
		served <- face.ServeLines(ctx, in, p.out, closer(in), mcpserver.Client{
			Principal: principal(), Origin: tool.MCPLocal, Profile: profile,
		})
	}()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-served:
		return err
	case <-time.After(lastAnswers): // a terminal can keep a read waiting for ever
		return nil
	}
}

// lastAnswers is how long the last answers may take after a signal.
const lastAnswers = 2 * time.Second

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
	return p.join(ctx, cfg, log, o)
}

// join joins the parts.
func (p *program) join(ctx context.Context, cfg *config.Config, log *slog.Logger, o openOptions) (*app.App, error) {
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
