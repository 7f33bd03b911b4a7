package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// This file has the commands `collie mcp restart` and `collie mcp refresh`.

func (p commands) restartCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restart NAME…", Short: "Stop servers and start them again", Args: atLeastOne("server"),
		Long: "Stops servers of the running gateway after their calls have ended, and starts them again. Past\n" +
			"failures are forgotten, so that a server that waits for its next attempt starts at once.",
		ValidArgsFunction: p.CompleteServers,
		RunE: func(c *cobra.Command, args []string) error {
			return p.eachServer(c.Context(), args, "restart", true, root.Backend.Restart)
		},
	}
}

func (p commands) refreshCommand() *cobra.Command {
	return &cobra.Command{
		Use: "refresh NAME…", Short: "Fetch the tools of servers from the servers themselves", Args: atLeastOne("server"),
		Long: "Fetches the lists from the servers themselves, whatever the cache holds, and starts those that\n" +
			"do not run. Without a running gateway they are started here and stopped afterwards.",
		ValidArgsFunction: p.CompleteServers,
		RunE: func(c *cobra.Command, args []string) error {
			return p.eachServer(c.Context(), args, "refresh", false, root.Backend.Refresh)
		},
	}
}

// atLeastOne requires one or more names.
func atLeastOne(noun string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return root.Usage("%s needs the name of a %s; collie mcp list shows them", c.CommandPath(), noun)
		}
		return nil
	}
}

// eachServer applies do to servers, one after the other, and prints their states after it. If running is set, it needs a
// running gateway.
func (p commands) eachServer(ctx context.Context, names []string, verb string, running bool, do func(root.Backend, context.Context, string) (tool.ServerStatus, error)) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	for _, name := range names {
		if known := root.ServerNames(cfg); !slices.Contains(known, name) {
			return root.UnknownServerError("mcp "+verb, name, known)
		}
	}
	b, err := p.Backend(ctx, []string{}) // an empty list: it starts no server itself
	if err != nil {
		return err
	}
	defer b.Close()
	if _, local := b.(*root.Local); local && running {
		return &tool.Error{
			Op: "mcp " + verb, Kind: tool.Unavailable, Message: "no gateway with these settings runs in this home",
			Hint: "collie serve starts one; collie mcp doctor NAME tries a server out without it",
		}
	}
	var first error
	rows := [][]string{}
	list := []tool.ServerStatus{}
	for _, name := range names {
		stop := p.WhileStarting(ctx, b)
		st, err := do(b, ctx, name)
		stop()
		if err != nil {
			if len(names) > 1 { // with one server the command itself returns the error
				p.Warn("%v", err)
			}
			if first == nil {
				first = err
			}
			continue
		}
		list = append(list, st)
		rows = append(rows, []string{st.Name, string(st.State), strconv.Itoa(st.Tools), time.Duration(st.StartSeconds * float64(time.Second)).Round(time.Millisecond).String()})
	}
	if p.JSON {
		if err := p.PrintJSON(map[string]any{"servers": list}); err != nil {
			return err
		}
	} else if len(rows) > 0 {
		if err := p.Table([]string{"NAME", "STATE", "TOOLS", "START"}, rows); err != nil {
			return err
		}
	}
	if first != nil && len(names) > 1 {
		return &tool.Error{Op: "mcp " + verb, Kind: tool.KindOf(first), Message: fmt.Sprintf("%d of %d servers failed", len(names)-len(list), len(names))}
	}
	return first
}
