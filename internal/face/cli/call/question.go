package call

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
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
	if _, err := io.WriteString(c.out, locale.Sprintf("%sRun it? [y/N] ", QuestionText(&q))); err != nil {
		return nil, err
	}
	line, err := c.in.Next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return confirmation(err == nil && root.Agrees(line)), nil
}

// confirmation returns the result for [tool.MethodConfirm].
func confirmation(yes bool) json.RawMessage {
	return json.RawMessage(`{"confirm":` + strconv.FormatBool(yes) + `}`)
}
