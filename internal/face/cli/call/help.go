package call

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"collie/internal/arguments"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file prints the help page of an action: its arguments as flags, an example, and when a person is asked before the
// action runs.

// showAction shows the help page of TOOL ACTION, or with --json its definition.
func (p commands) showAction(ctx context.Context, b root.Backend, words []string, profile string) error {
	target, err := p.find(ctx, b, words, profile)
	if err != nil {
		return err
	}
	a := target.action
	off := output.FirstNonEmpty(target.tool.Off, a.Off)
	if p.JSON {
		return p.PrintJSON(map[string]any{"tool": target.tool.Name, "action": a.Name, "off": off, "definition": a.Definition})
	}
	return p.page(page{
		target: &target, title: a.Title, description: a.Description, off: off, readOnly: a.ReadOnly, asks: confirmationText(a),
	})
}

// showExposed shows the help page of a name that clients see, or with --json its definition.
func (p commands) showExposed(ctx context.Context, b root.Backend, name, profile string) error {
	target, err := p.find(ctx, b, []string{name}, profile)
	if err != nil {
		return err
	}
	def := target.definition
	if p.JSON {
		return p.PrintJSON(map[string]any{"name": name, "definition": json.RawMessage(def.Raw)})
	}
	return p.page(page{
		target: &target, title: rawjson.Member(def, "title").String(), description: rawjson.Member(def, "description").String(),
	})
}

// page is the content of an action's help page.
type page struct {
	target                  *namedTarget
	title, description, off string
	readOnly                bool
	asks                    string // when a person is asked for confirmation; empty if never
}

// confirmationText says when a person is asked before an action runs; empty if never.
func confirmationText(a *tool.Action) string {
	switch {
	case a.Dangerous:
		return locale.T("asks a person first")
	case a.DangerousWith != "":
		return locale.Sprintf("asks a person first if %s is given", a.DangerousWith)
	}
	return ""
}

// readOnlyClaim returns the addition to "only reads" that attributes this to the author of another server's tool.
func (g page) readOnlyClaim() string {
	if g.target.isOurs() {
		return ""
	}
	return locale.T(", says its author")
}

// page prints a help page.
func (p commands) page(g page) error {
	params, positional := arguments.ForAction(g.target.action, g.target.schema)
	words := g.target.words
	head := strings.Join(words, " ")
	if g.title != "" && g.title != words[len(words)-1] {
		head += ": " + g.title
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", output.OneLine(head))
	for _, fact := range facts(g) {
		fmt.Fprintf(&b, "%s\n", output.OneLine(fact))
	}
	if text := strings.TrimSpace(g.description); text != "" {
		fmt.Fprintf(&b, "\n%s\n", output.Paragraphs(output.Harmless(text), p.ProseWidth()))
	}
	if _, err := fmt.Fprintf(p.Out, "%s\n", b.String()); err != nil {
		return err
	}
	if len(params) > 0 {
		var rows [][]string
		for i := range params {
			rows = append(rows, flagRow(words, &params[i]))
		}
		if err := p.TableWhole([]string{"FLAG", "TYPE", "", "ABOUT"}, rows); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(p.Out); err != nil {
			return err
		}
	}
	line := example(words, params, positional)
	if a := g.target.action; g.target.isOurs() && a != nil && a.Example != "" {
		line = a.Example
	}
	_, err := locale.Fprintf(p.Out, "Example:\n  %s\n", output.OneLine(line))
	return err
}

// facts returns the lines under the head of a help page: whether the action is off, only reads, or asks first.
func facts(g page) []string {
	var out []string
	if g.off != "" {
		out = append(out, "off: "+g.off)
	}
	if g.readOnly {
		out = append(out, locale.Sprintf("only reads%s", g.readOnlyClaim()))
	}
	if g.asks != "" {
		out = append(out, g.asks)
	}
	return out
}

// flagRow returns the row of the table of flags for one parameter of the action that words name.
func flagRow(words []string, q *arguments.Parameter) []string {
	flag := "--" + q.Flag
	if needsJSON(q) {
		flag += "-json"
	}
	need := ""
	if q.Required && q.Parent == "" {
		need = "required"
	}
	about := strings.Join(strings.Fields(q.Description), " ")
	var more []string
	if len(q.Enum) > 0 {
		more = append(more, locale.Sprintf("one of %s", rawjson.JoinValues(q.Enum, 12)))
	}
	if q.Default.Exists() {
		more = append(more, locale.Sprintf("default %s", q.Default.Raw))
	}
	if isOwnFlag(words, q.Flag) {
		more = append(more, "write -- --"+q.Flag)
	}
	if len(more) > 0 {
		about = strings.TrimSpace(about + " (" + strings.Join(more, "; ") + ")")
	}
	return []string{flag, q.TypeName(), need, about}
}

// ownFlags are the flags of the command line itself. If an action has a flag with such a name, it must come
// after "--".
var ownFlags = map[string]bool{
	"args": true, "profile": true, "timeout": true, "yes": true, "local": true, "save": true, "help": true,
	"home": true, "config": true, "log-level": true, "json": true, "debug": true,
	"connection": true, "url": true, "token": true, // after a SiYuan tool
}

// isOwnFlag reports whether a flag after words belongs to the command line itself.
func isOwnFlag(words []string, flag string) bool {
	return ownFlags[flag] && !isForeignArgument(words, flag)
}

// example returns a command line that calls an action with all required parameters. Those named in positional are given
// without a flag.
func example(words []string, params []arguments.Parameter, positional []string) string {
	line := "collie " + strings.Join(words, " ")
	if len(words) == 1 {
		line = "collie call " + words[0]
	}
	var behind strings.Builder
	for i := range params {
		q := &params[i]
		if !q.Required || q.Parent != "" {
			continue
		}
		if len(positional) > 0 && positional[0] == q.Name && !needsJSON(q) {
			_, value, _ := strings.Cut(exampleFlag(q), " ")
			line, positional = line+" "+output.FirstNonEmpty(value, "true"), positional[1:]
			continue
		}
		if isOwnFlag(words, q.Flag) && !needsJSON(q) {
			behind.WriteString(" " + exampleFlag(q))
			continue
		}
		line += " " + exampleFlag(q)
	}
	if behind.String() != "" {
		line += " --" + behind.String()
	}
	return line
}

// exampleFlag returns the flag of a parameter with an example of a value.
func exampleFlag(q *arguments.Parameter) string {
	flag := "--" + q.Flag
	switch {
	case q.Is("boolean"):
		return flag
	case slices.Contains(q.Types, "boolean"): // boolean is one of several types
		return flag + " true"
	case needsJSON(q) && q.Default.Exists():
		return flag + "-json " + output.ShellQuote(q.Default.Raw)
	case needsJSON(q) && q.Is("object"):
		return flag + "-json '{}'"
	case needsJSON(q):
		return flag + "-json '[]'"
	case len(q.Enum) > 0:
		return flag + " " + output.ShellQuote(q.Enum[0].String())
	case q.Default.Exists() && !q.Default.IsArray() && q.Default.String() != "":
		return flag + " " + output.ShellQuote(q.Default.String())
	case q.Is("integer"), q.Is("number"):
		return flag + " 1"
	case q.Is("array") && len(q.Items) == 1 && (q.Items[0] == "integer" || q.Items[0] == "number"):
		return flag + " 1,2"
	case q.Is("array"):
		return flag + " a,b"
	}
	return flag + " '…'"
}
