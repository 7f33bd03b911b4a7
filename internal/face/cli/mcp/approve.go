package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// This file has the command `collie mcp approve`, with which a person accepts changed definitions of tools.

func (p commands) approveCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "approve NAME [TOOL…]", Short: "Accept changed tool definitions of a server", Args: atLeastOne("server"),
		Long: "A tool whose definition differs from the first one seen may have been changed to mislead a\n" +
			"model. This command shows what has changed and asks; with \"trust\": \"pin\" such tools stay\n" +
			"hidden until you accept them here.",
		ValidArgsFunction: p.CompleteServers,
		RunE: func(c *cobra.Command, args []string) error {
			return p.approve(c.Context(), args[0], args[1:], yes)
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "accept without asking")
	return c
}

// approve shows the changed definitions of tools, or of all tools if none is named, asks, and accepts them.
func (p commands) approve(ctx context.Context, name string, tools []string, yes bool) error {
	b, err := p.Backend(ctx, []string{}) // an empty list: it starts no server itself
	if err != nil {
		return err
	}
	defer b.Close()
	changes, err := b.Changes(ctx, name)
	if err != nil {
		return err
	}
	waiting := slices.Sorted(maps.Keys(changes))
	for _, t := range tools {
		if _, ok := changes[t]; !ok {
			return root.Usage("no change of %q waits for approval%s", t, root.DidYouMean(t, waiting))
		}
	}
	if len(tools) == 0 {
		tools = waiting
	}
	if len(tools) == 0 {
		if p.JSON {
			return p.PrintJSON(map[string]any{"approved": 0})
		}
		p.Note("no definition of %s has changed since it was first seen", name)
		return nil
	}
	if !p.JSON {
		for _, t := range tools {
			if err := p.showChange(t, changes[t]); err != nil {
				return err
			}
		}
	}
	if !yes {
		ok, err := p.RequireYes(ctx, locale.Sprintf("accept %s of %s?", locale.Count(len(tools), "definition"), name))
		if err != nil || !ok {
			return err
		}
	}
	shown := map[string]string{}
	for _, t := range tools {
		shown[t] = changes[t].Hash
	}
	n, err := b.Approve(ctx, name, shown)
	if err != nil {
		return err
	}
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	p.OnRecord(ctx, cfg, "mcp approve", map[string]any{"server": name, "tools": tools})
	if p.JSON {
		return p.PrintJSON(map[string]any{"approved": n})
	}
	_, err = locale.Fprintf(p.Out, "accepted %s of %s\n", locale.Count(n, "definition"), name)
	return err
}

// showChange prints how a definition has changed, field by field.
func (p commands) showChange(name string, ch tool.DefinitionChange) error {
	var b strings.Builder
	locale.Fprintf(&b, "%s: %s changed\n", name, strings.Join(ch.Fields, ", "))
	var before, after map[string]json.RawMessage
	_ = json.Unmarshal(ch.Was, &before) // a definition that is not an object has no fields
	_ = json.Unmarshal(ch.Now, &after)
	for _, field := range ch.Fields {
		for _, l := range difference(readableLines(before[field]), readableLines(after[field])) {
			fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("  %c %s: %s", l.sign, field, l.text), " "))
		}
	}
	_, err := io.WriteString(p.Out, output.Harmless(b.String())) // nothing is cut: the person must see all of it
	return err
}
