package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"collie/internal/tool"
)

// agree asks the person at the terminal for a yes. A no, and the lack of a terminal, are errors
// of kind Unconfirmed.
func (p *program) agree(ctx context.Context, question string) (bool, error) {
	if !terminal(p.err) || !terminal(p.in) {
		return false, &tool.Error{
			Op: "ask", Kind: tool.Unconfirmed, Message: "nobody can be asked here: " + question, Hint: "--yes answers it",
		}
	}
	fmt.Fprintf(p.err, "%s [y/N] ", question)
	answer, err := newLines(p.in).next(ctx)
	switch {
	case errors.Is(err, io.EOF): // Ctrl-D, which is no
		fmt.Fprintln(p.err)
	case err != nil:
		return false, err
	case agrees(answer):
		return true, nil
	}
	return false, &tool.Error{Op: "ask", Kind: tool.Unconfirmed, Message: "not accepted, nothing was changed"}
}
