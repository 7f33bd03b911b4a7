package root

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	secretadmin "collie/internal/secret/admin"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// This file asks the person at the terminal yes-or-no questions, and for inputs of servers.

// RequireYes asks the person at the terminal for a yes. If the answer is no, or there is no terminal, the error is of
// kind Unconfirmed.
func (p *Program) RequireYes(ctx context.Context, question string) (bool, error) {
	if !output.IsTerminal(p.Err) || !output.IsTerminal(p.In) {
		return false, &tool.Error{
			Op: "ask", Kind: tool.Unconfirmed, Message: "there is no terminal to ask at: " + question, Hint: "--yes answers it",
		}
	}
	fmt.Fprintf(p.Err, "%s [y/N] ", locale.T(question))
	answer, err := NewLines(p.In).Next(ctx)
	switch {
	case errors.Is(err, io.EOF): // Ctrl-D means no
		fmt.Fprintln(p.Err)
	case err != nil:
		return false, err
	case IsYes(answer):
		return true, nil
	}
	return false, &tool.Error{Op: "ask", Kind: tool.Unconfirmed, Message: "not accepted, nothing was changed"}
}

// Lines reads a stream line by line, for callers that may stop waiting. Its goroutine starts with the first
// Next and ends with the stream or the process, because a read from a terminal cannot be interrupted.
type Lines struct {
	start sync.Once
	r     io.Reader
	Ch    chan string
}

// NewLines returns Lines of r; nothing is read before the first Next.
func NewLines(r io.Reader) *Lines { return &Lines{r: r, Ch: make(chan string)} }

// Next returns the next line without its end. The error is io.EOF or that of ctx.
func (l *Lines) Next(ctx context.Context) (string, error) {
	l.start.Do(func() {
		go func() {
			defer close(l.Ch)
			s := bufio.NewScanner(l.r)
			for s.Scan() {
				l.Ch <- s.Text()
			}
		}()
	})
	select {
	case text, ok := <-l.Ch:
		if !ok {
			return "", io.EOF
		}
		return text, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// IsYes reports whether an answer means yes. All others mean no.
func IsYes(answer string) bool {
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes", "是", "好":
		return true
	}
	return false
}

// CanAsk reports whether there is a person at this terminal who can be asked.
func (p *Program) CanAsk() bool {
	return !p.JSON && output.IsTerminal(p.In) && output.IsTerminal(p.Err)
}

// AskYesNo asks a person a question until the answer is yes or no. An empty line, or the end of the
// input, means byDefault.
func (p *Program) AskYesNo(ctx context.Context, question string, byDefault bool) (bool, error) {
	choice := map[bool]string{true: " [Y/n] ", false: " [y/N] "}[byDefault]
	for {
		line, err := p.Prompt(ctx, locale.T(question)+choice, false)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return byDefault, nil
			}
			return false, err
		}
		if line = strings.TrimSpace(line); line == "" {
			return byDefault, nil
		}
		if answer, ok := ParseYesNo(line); ok {
			return answer, nil
		}
	}
}

// ParseYesNo parses an answer; ok is false if it is neither yes nor no.
func ParseYesNo(line string) (yes, ok bool) {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes", "true", "是", "好":
		return true, true
	case "n", "no", "false", "否", "不":
		return false, true
	}
	return false, false
}

// askInputs asks the person at this terminal, as VS Code does, for each ${input:id} in the entries of these servers that has
// no value, and keeps the answers as secrets, where a gateway finds them too. An empty line leaves an input out, and so
// does everything if there is no person.
func (p *Program) askInputs(ctx context.Context, cfg *config.Config, servers []string) error {
	if len(servers) == 0 || !p.CanAsk() {
		return nil
	}
	for _, in := range serveradmin.UnansweredInputs(cfg, p.Env, servers) {
		value, err := p.askInput(ctx, in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if value == "" {
			continue
		}
		name := "input:" + in.ID
		store, err := secretadmin.Open(cfg, nil)
		if err == nil {
			err = store.Set(ctx, name, value)
		}
		if err != nil {
			return SecretError("secret set", name, err)
		}
		p.OnRecord(ctx, cfg, "secret set", map[string]any{"name": name})
		p.Note("kept as the secret %s", name)
	}
	return nil
}

// askInput asks for one input until the answer is valid; "" means that the person left it out. A password is not shown while
// it is typed.
func (p *Program) askInput(ctx context.Context, in config.Input) (string, error) {
	for {
		line, err := p.Prompt(ctx, inputQuestion(in), in.Password)
		if err != nil || strings.TrimSpace(line) == "" {
			return "", err
		}
		if value, ok := inputAnswer(in, line); ok {
			return value, nil
		}
	}
}

// inputQuestion returns the question for an input: its numbered options, if it has any, and a prompt.
func inputQuestion(in config.Input) string {
	var b strings.Builder
	about := in.ID
	if in.Description != "" {
		about += ", " + in.Description
	}
	for i, o := range in.Options {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, output.OneLine(o))
	}
	fmt.Fprintf(&b, "%s: ", output.OneLine(about))
	return b.String()
}

// inputAnswer returns the value that a typed line means. If the input has options, the line is one of them or its number.
func inputAnswer(in config.Input, line string) (string, bool) {
	answer := strings.TrimSpace(line)
	if len(in.Options) == 0 || slices.Contains(in.Options, answer) {
		return answer, answer != ""
	}
	n, err := strconv.Atoi(answer)
	if err != nil || n < 1 || n > len(in.Options) {
		return "", false
	}
	return in.Options[n-1], true
}
