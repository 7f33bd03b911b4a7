package call

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// This file asks the person at the terminal before a dangerous call.

// QuestionText describes what a dangerous call would do. Each fact is one line, and each line of a longer text has a
// prefix, so that other people's text cannot look like ours.
func QuestionText(q *tool.Question) string {
	var b strings.Builder
	say := func(format string, args ...any) { b.WriteString(locale.Sprintf(format, args...) + "\n") }
	sentence := func(text string) string { return output.OneLine(locale.Sentence(text)) }
	say("%s %s", output.OneLine(q.Tool), output.OneLine(q.Action))
	if q.Effect != "" {
		say("  effect: %s", sentence(q.Effect))
	}
	if q.Why != "" {
		reason, rule := q.Why, ""
		if i := strings.LastIndex(q.Why, " ("); i > 0 {
			reason, rule = q.Why[:i], q.Why[i:]
		}
		say("  why: %s", sentence(reason)+output.OneLine(rule))
	}
	if q.Risk != "" {
		say("  risk: %s", riskWord(q.Risk))
	}
	for i, t := range q.Targets {
		if i == 0 {
			say("  targets:")
		}
		say("    - %s", target(t))
	}
	if lines := ArgumentLines(q.Args, maxArgLines); lines == nil {
		say("  arguments: %s", output.OneLine(q.Args))
	} else {
		say("  arguments:")
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	if len(q.Grants) > 0 {
		say("  y runs it once; a number allows this action without asking:")
	}
	for i := range q.Grants {
		say("    %d  %s: %s", i+1, duration(&q.Grants[i]), Extent(q.Grants[i].Kind, q.Grants[i].Within))
	}
	return b.String()
}

// target returns the text of a target with its first word, which is the kind of the target, in the language of the
// terminal.
func target(t string) string {
	what, which, _ := strings.Cut(output.OneLine(t), " ")
	switch what {
	case "notebook":
		what = locale.T("notebook")
	case "document":
		what = locale.T("document")
	case "block":
		what = locale.T("block")
	case "path":
		what = locale.T("path")
	case "database":
		what = locale.T("database")
	case "asset":
		what = locale.T("asset")
	}
	return strings.TrimSpace(what + " " + which)
}

// duration says how long an offered grant holds.
func duration(o *tool.GrantOffer) string {
	switch {
	case o.Scope == "turn":
		return locale.T("until this answer is finished")
	case o.Scope == "session":
		return locale.T("in this conversation")
	case o.Expires != nil:
		return locale.Sprintf("always, until %s", o.Expires.Local().Format(time.DateOnly))
	}
	return locale.T("always, until you take it back")
}

// Extent describes in words what a grant covers. kind and within are those of a [tool.GrantOffer].
func Extent(kind, within string) string {
	within = output.OneLine(within)
	switch kind {
	case "notebook":
		return locale.Sprintf("everything in notebook %s", within)
	case "subtree":
		return locale.Sprintf("%s and all below it", within)
	case "path":
		return locale.Sprintf("everything in folder %s", within)
	case "host":
		return locale.Sprintf("everything at %s", within)
	case "command":
		return locale.Sprintf("the command %s", within)
	case "any":
		return locale.T("whatever its arguments are")
	}
	return strings.TrimSpace(kind + " " + within)
}

// confirm asks the person about a dangerous call of the command line. The end of the input means no.
func (c *caller) confirm(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	var q tool.Question
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, tool.NewProtocolError(remote.CodeInternal, locale.Sprintf("this is not a question: %s", err.Error()), nil)
	}
	if _, err := io.WriteString(c.out, QuestionText(&q)+Prompt(&q)); err != nil {
		return nil, err
	}
	line, err := c.in.Next(ctx)
	switch {
	case errors.Is(err, io.EOF):
		return confirmation(false, ""), nil
	case err != nil:
		return nil, err
	}
	return Answer(&q, line), nil
}

// Prompt returns the line that asks for the answer to a question.
func Prompt(q *tool.Question) string {
	switch {
	case q.Name != "":
		return namePrompt(q)
	case len(q.Grants) > 0:
		return locale.Sprintf("Run it? [y/N/1-%d] ", len(q.Grants))
	}
	return locale.T("Run it? [y/N] ")
}

// Answer returns the result for [tool.MethodConfirm] that a typed answer means: yes, the name that the question wants, or
// the number of a grant that it offers. Everything else is a no.
func Answer(q *tool.Question, typed string) json.RawMessage {
	n, err := strconv.Atoi(strings.TrimSpace(typed))
	if q.Name == "" && err == nil && n >= 1 && n <= len(q.Grants) {
		raw, _ := json.Marshal(map[string]any{"confirm": true, "grant": q.Grants[n-1].ID}) // a text always encodes
		return raw
	}
	return confirmation(agrees(q, typed), q.Name)
}

// namePrompt returns the line that asks the person to type a name, which agrees to a critical call.
func namePrompt(q *tool.Question) string {
	return locale.Sprintf("To let it run, type %s: ", output.OneLine(q.Name))
}

// agrees reports whether what a person typed agrees to q: a yes, or the name that q wants.
func agrees(q *tool.Question, typed string) bool {
	if q.Name != "" {
		return strings.TrimSpace(typed) == q.Name
	}
	return root.IsYes(typed)
}

// confirmation returns the result for [tool.MethodConfirm]; name is that of the question.
func confirmation(yes bool, name string) json.RawMessage {
	said := map[string]any{"confirm": yes}
	if yes && name != "" {
		said["name"] = name
	}
	raw, _ := json.Marshal(said) // a bool and a text always encode
	return raw
}

// agreedBefore returns the result for [tool.MethodConfirm] of a person who agreed before the question, with --yes.
func agreedBefore(name string) json.RawMessage {
	said := map[string]any{"confirm": true, "beforehand": true}
	if name != "" {
		said["name"] = name
	}
	raw, _ := json.Marshal(said) // a bool and a text always encode
	return raw
}

// riskWord returns a risk as people read it.
func riskWord(r tool.Risk) string {
	switch r {
	case tool.RiskNone:
		return locale.T("none")
	case tool.RiskLow:
		return locale.T("low")
	case tool.RiskMedium:
		return locale.T("medium")
	case tool.RiskHigh:
		return locale.T("high")
	case tool.RiskCritical:
		return locale.T("critical")
	case tool.RiskUnknown:
	}
	return output.OneLine(string(r))
}
