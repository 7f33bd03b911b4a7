package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"collie/internal/tool"
)

// questionText shows what a dangerous call would do. Each fact is one line, so that no text of
// somebody else's can pass for one of ours.
func questionText(q *tool.Question) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("%s %s", oneLine(q.Tool), oneLine(q.Action))
	if q.Effect != "" {
		say("  effect: %s", oneLine(q.Effect))
	}
	for i, t := range q.Targets {
		if i == 0 {
			say("  targets:")
		}
		say("    - %s", oneLine(t))
	}
	say("  arguments: %s", oneLine(q.Args))
	return b.String()
}

// confirm asks the person about a dangerous call of the command line itself. The end of the
// input is a no.
func (c *caller) confirm(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	var q tool.Question
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, tool.NewProtocolError(codeInternal, "this is no question: "+err.Error(), nil)
	}
	if _, err := io.WriteString(c.out, questionText(&q)+"Run it? [y/N] "); err != nil {
		return nil, err
	}
	line, err := c.in.next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return confirmation(err == nil && agrees(line)), nil
}

// confirmation is the answer to [tool.MethodConfirm].
func confirmation(yes bool) json.RawMessage {
	return json.RawMessage(`{"confirm":` + strconv.FormatBool(yes) + `}`)
}

// agrees reports whether an answer is a yes; everything else is a no.
func agrees(answer string) bool {
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes", "是", "好":
		return true
	}
	return false
}
