// Package guide generates the documentation of the SiYuan tools, for people and models: help pages, the reference,
// resources, prompts and instructions. Most of it is generated from the actions. Only advice that concerns more than one
// action is written by hand.
package guide

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
)

// Page returns the help page of an action, in Markdown: what it is for, its arguments with types and defaults, the
// levels it needs, what comes back, and an example for MCP and for a terminal.
func Page(a *action.Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s(action=%q)\n\n%s.\n", a.Tool, a.Name, a.Purpose)
	if a.Guide != "" {
		fmt.Fprintf(&b, "\n%s\n", a.Guide)
	}
	fmt.Fprintf(&b, "\n`%s`\n\n", a.Signature())
	writeArguments(&b, a)
	fmt.Fprintf(&b, "- Needs: %s\n", describeNeeds(a))
	fmt.Fprintf(&b, "- Kind: %s\n", describeKind(a))
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

// writeArguments writes the table of the arguments.
func writeArguments(b *strings.Builder, a *action.Action) {
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
		var aliases []string
		for alias, to := range a.Aliases {
			if to == p.Name {
				aliases = append(aliases, alias)
			}
		}
		if len(aliases) > 0 {
			slices.Sort(aliases)
			about += " (also " + strings.Join(aliases, ", ") + ")"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", p.Name, typeName(&p), required, strings.Trim(string(p.Default), `"`), escapeCell(about))
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

// describeNeeds says which levels an action needs on what.
func describeNeeds(a *action.Action) string {
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

// describeKind returns the words for what an action does and for its restrictions.
func describeKind(a *action.Action) string {
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

// Overview returns the page of a tool: what it is for and a line for each action that is on.
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

// Levels returns the line that says whether a caller's levels allow an action anywhere. capped says that a profile
// lowers them.
func Levels(a *action.Action, counts map[access.Level]int, capped bool) string {
	need := a.HighestLevel()
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
		if capped {
			return fmt.Sprintf("Your levels allow it in no notebook now: it needs %s. A person changes levels, and the notebooks of your profile, which lowers them, in the settings.", need)
		}
		return fmt.Sprintf("Your levels allow it in no notebook now: it needs %s. A person changes levels: collie siyuan permission set NOTEBOOK %s.", need, need)
	case 1:
		return fmt.Sprintf("It needs %s, which 1 notebook allows now.", need)
	}
	return fmt.Sprintf("It needs %s, which %d notebooks allow now.", need, n)
}

func escapeCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// mcpExample returns the example as the arguments of the grouped tool.
func mcpExample(a *action.Action) string {
	head := `{"action":"` + a.Name + `"`
	rest := strings.TrimPrefix(strings.TrimSpace(a.Example), "{")
	if strings.TrimSpace(rest) == "}" {
		return head + "}"
	}
	return head + "," + rest
}

// CommandLine returns the example as it is typed in a terminal.
func CommandLine(a *action.Action) string {
	words := []string{"collie", a.Tool, strings.ReplaceAll(a.Name, "_", "-")}
	root := gjson.Parse(a.Example)
	for _, p := range a.Positional {
		v := root.Get(p)
		if !v.Exists() {
			break
		}
		words = append(words, shellWord(v.String()))
	}
	positional := len(words) - 3
	root.ForEach(func(k, v gjson.Result) bool {
		name := k.String()
		if i := slices.Index(a.Positional, name); i >= 0 && i < positional {
			return true
		}
		flag := "--" + flagName(name)
		switch {
		case v.IsBool() && v.Bool():
			words = append(words, flag)
		case v.IsBool():
			words = append(words, "--no-"+flagName(name))
		case v.IsArray() && isObjectOfStrings(v):
			for _, item := range v.Array() {
				words = append(words, flag, shellWord(strings.ReplaceAll(item.String(), ",", `\,`)))
			}
		case v.IsObject() && flattensToFlags(a, name, v):
			v.ForEach(func(k, m gjson.Result) bool {
				words = append(words, "--"+flagName(k.String()), shellWord(m.String()))
				return true
			})
		case v.IsArray() || v.IsObject():
			words = append(words, flag+"-json", shellWord(compactJSON(v.Raw)))
		default:
			words = append(words, flag, shellWord(v.String()))
		}
		return true
	})
	return strings.Join(words, " ")
}

// flattensToFlags reports whether the argument v is an object of strings whose members its schema names,
// and none of them is also the name of an argument. A command line then takes the members as flags
// of their own.
func flattensToFlags(a *action.Action, name string, v gjson.Result) bool {
	known := map[string]bool{}
	schema := gjson.ParseBytes(a.Param(name).Schema())
	for _, form := range append(schema.Get("anyOf").Array(), schema) {
		form.Get("properties").ForEach(func(k, _ gjson.Result) bool {
			known[k.String()] = true
			return true
		})
	}
	flat := true
	v.ForEach(func(k, m gjson.Result) bool {
		flat = m.Type == gjson.String && known[k.String()] && a.Param(k.String()) == nil
		return flat
	})
	return flat
}

func isObjectOfStrings(v gjson.Result) bool {
	for _, item := range v.Array() {
		if item.IsArray() || item.IsObject() {
			return false
		}
	}
	return len(v.Array()) > 0
}

func compactJSON(raw string) string {
	var v any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		return raw
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return string(out)
}

// shellWord returns s as one word of a shell.
func shellWord(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@%+,", r)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// flagName returns a name as a flag: parentID becomes parent-id.
func flagName(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if r == '_' {
			b.WriteByte('-')
			continue
		}
		if unicode.IsUpper(r) && i > 0 {
			before := runes[i-1]
			next := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if unicode.IsLower(before) || unicode.IsDigit(before) || next && unicode.IsUpper(before) {
				b.WriteByte('-')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
