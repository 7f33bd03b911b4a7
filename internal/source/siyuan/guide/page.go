// Package guide writes what people and models read about the SiYuan tools: help pages, the
// reference, resources, prompts and instructions. All of it is made from the actions
// themselves; what is written by hand is advice that no single action could give.
package guide

import (
	"fmt"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
)

// Page is the help page of an action, in Markdown: what it is for, its arguments with types and
// defaults, the levels it needs, what comes back, and an example for MCP and for a terminal.
func Page(a *action.Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s(action=%q)\n\n%s.\n", a.Tool, a.Name, a.Purpose)
	if a.Guide != "" {
		fmt.Fprintf(&b, "\n%s\n", a.Guide)
	}
	fmt.Fprintf(&b, "\n`%s`\n\n", a.Signature())
	arguments(&b, a)
	fmt.Fprintf(&b, "- Needs: %s\n", needs(a))
	fmt.Fprintf(&b, "- Kind: %s\n", kind(a))
	if len(a.Endpoints) > 0 {
		fmt.Fprintf(&b, "- Endpoints: %s\n", strings.Join(a.Endpoints, ", "))
	}
	b.WriteString("\n## Result\n\n")
	for _, f := range a.Returned() {
		verbose := ""
		if f.Verbose {
			verbose = " (with verbose:true)"
		}
		fmt.Fprintf(&b, "- `%s`: %s%s\n", f.Name, f.About, verbose)
	}
	fmt.Fprintf(&b, "\n## Example\n\nMCP:\n\n```json\n%s\n```\n\nTerminal:\n\n```sh\n%s\n```\n", mcpExample(a), CommandLine(a))
	return b.String()
}

// arguments is the table of the arguments.
func arguments(b *strings.Builder, a *action.Action) {
	if len(a.Params()) == 0 {
		b.WriteString("No arguments.\n\n")
		return
	}
	b.WriteString("| argument | type | | default | meaning |\n|---|---|---|---|---|\n")
	for _, p := range a.Params() {
		required := "optional"
		if p.Required {
			required = "required"
		}
		about := p.About
		if len(p.Enum) > 0 {
			about += ": " + strings.Join(p.Enum, ", ")
		}
		var other []string
		for alias, to := range a.Aliases {
			if to == p.Name {
				other = append(other, alias)
			}
		}
		if len(other) > 0 {
			about += " (also " + strings.Join(sorted(other), ", ") + ")"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", p.Name, typeName(&p), required, strings.Trim(string(p.Default), `"`), escape(about))
	}
	b.WriteString("\n")
}

func typeName(p *action.Param) string {
	switch {
	case p.Type == "array" && p.Items != "":
		return p.Items + "[]"
	case p.Type == "":
		return "any"
	}
	return p.Type
}

// needs says which levels an action needs on what.
func needs(a *action.Action) string {
	if len(a.Needs) == 0 {
		return "no level: " + a.Unguarded
	}
	var out []string
	for _, n := range a.Needs {
		if n.Level == access.None {
			out = append(out, n.Of)
			continue
		}
		out = append(out, n.Level.String()+" on "+n.Of)
	}
	return strings.Join(out, ", ")
}

// kind says what an action does, and what stands before it.
func kind(a *action.Action) string {
	out := map[action.Class]string{
		action.Reads: "reads", action.External: "has an effect outside the notes", action.Creates: "creates",
		action.State: "changes or removes", action.Structure: "changes order or place", action.Manifest: "changes in many places",
		action.Source: "takes in a local file",
	}[a.Class]
	if a.Dangerous {
		out += "; a person confirms it"
	} else if a.DangerousWith != "" {
		out += "; a person confirms it with " + a.DangerousWith
	}
	if a.DirectOnly {
		out += "; only for a person at a terminal"
	}
	if a.Off {
		out += "; off by default"
	}
	return out
}

// Overview is the page of a tool: what it is for and a line for each action that is on.
func Overview(t *action.Tool, on func(*action.Action) bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", t.Name, t.About)
	for _, common := range []bool{true, false} {
		head := map[bool]string{true: "\n## Common actions\n\n", false: "\n## More actions\n\n"}[common]
		for _, a := range t.Actions {
			if a.Common != common || !on(a) {
				continue
			}
			b.WriteString(head)
			head = ""
			fmt.Fprintf(&b, "- `%s` %s.", a.Signature(), a.Purpose)
			if a.Dangerous {
				b.WriteString(" A person confirms it.")
			} else if a.DangerousWith != "" {
				b.WriteString(" A person confirms it with " + a.DangerousWith + ".")
			}
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "\n%s(action=\"help\", topic=\"<action>\") shows one action with its arguments, levels and result.\n", t.Name)
	return b.String()
}

// Levels is the line that says whether a caller's levels allow an action anywhere.
func Levels(a *action.Action, counts map[access.Level]int) string {
	need := a.Needed()
	if need == access.None {
		return "It needs no level, so your levels allow it."
	}
	n := 0
	for level, count := range counts {
		if level >= need {
			n += count
		}
	}
	switch n {
	case 0:
		return fmt.Sprintf("Your levels allow it in no notebook now: it needs %s. A person changes levels: collie siyuan permission set NOTEBOOK %s.", need, need)
	case 1:
		return fmt.Sprintf("It needs %s, which 1 notebook allows now.", need)
	}
	return fmt.Sprintf("It needs %s, which %d notebooks allow now.", need, n)
}

func escape(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
