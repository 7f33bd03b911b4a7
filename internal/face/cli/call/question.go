package call

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// QuestionText describes what a dangerous call would do. Each fact is one line, so that other people's text
// cannot look like ours.
func QuestionText(q *tool.Question) string {
	var b strings.Builder
	say := func(format string, args ...any) { b.WriteString(locale.Sprintf(format, args...) + "\n") }
	say("%s %s", output.OneLine(q.Tool), output.OneLine(q.Action))
	if q.Effect != "" {
		say("  effect: %s", output.OneLine(q.Effect))
	}
	if q.Why != "" {
		say("  why: %s", output.OneLine(q.Why))
	}
	if q.Risk != "" {
		say("  risk: %s", riskWord(q.Risk))
	}
	for i, t := range q.Targets {
		if i == 0 {
			say("  targets:")
		}
		say("    - %s", output.OneLine(t))
	}
	say("  arguments: %s", output.OneLine(q.Args))
	return b.String()
}

// confirm asks the person about a dangerous call of the command line. The end of the input means no.
func (c *caller) confirm(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	var q tool.Question
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, tool.NewProtocolError(remote.CodeInternal, locale.Sprintf("this is not a question: %s", err.Error()), nil)
	}
	text := locale.Sprintf("%sRun it? [y/N] ", QuestionText(&q))
	if q.Name != "" {
		text = QuestionText(&q) + NamePrompt(&q)
	}
	if _, err := io.WriteString(c.out, text); err != nil {
		return nil, err
	}
	line, err := c.in.Next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return Confirmation(err == nil && agrees(&q, line), q.Name), nil
}

// NamePrompt asks for the name that a critical question wants typed.
func NamePrompt(q *tool.Question) string {
	return locale.Sprintf("To let it run, type %s: ", output.OneLine(q.Name))
}

// agrees reports whether what a person typed agrees to q: a yes, or the name that q wants.
func agrees(q *tool.Question, typed string) bool {
	if q.Name != "" {
		return strings.TrimSpace(typed) == q.Name
	}
	return root.Agrees(typed)
}

// Confirmation returns the result for [tool.MethodConfirm]; name is that of the question.
func Confirmation(yes bool, name string) json.RawMessage {
	said := map[string]any{"confirm": yes}
	if yes && name != "" {
		said["name"] = name
	}
	raw, _ := json.Marshal(said) // a bool and a text always encode
	return raw
}

// riskWord is a risk as people read it.
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
