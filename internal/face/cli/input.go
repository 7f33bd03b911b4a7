package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"collie/internal/config"
)

// askInput asks the person at this terminal for what ${input:id} stands for, as VS Code does
// (2.5). It is the last place that is asked, and false where there is no terminal or nothing
// was said. A password is not shown while it is typed.
func (p *program) askInput(in config.Input) (string, bool) {
	if !terminal(p.in) || !terminal(p.err) {
		return "", false
	}
	fmt.Fprint(p.err, inputQuestion(in))
	if f, ok := p.in.(interface{ Fd() uintptr }); ok && in.Password {
		said, err := term.ReadPassword(int(f.Fd())) //nolint:gosec // a descriptor is small
		fmt.Fprintln(p.err)
		return string(said), err == nil && len(said) > 0
	}
	line, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil {
		return "", false
	}
	return inputAnswer(in, line)
}

// inputQuestion is what the person reads.
func inputQuestion(in config.Input) string {
	var b strings.Builder
	about := in.ID
	if in.Description != "" {
		about += ", " + in.Description
	}
	for i, o := range in.Options {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, oneLine(o))
	}
	fmt.Fprintf(&b, "%s: ", oneLine(about))
	return b.String()
}

// inputAnswer is what a line says: of several options one, or its number.
func inputAnswer(in config.Input, line string) (string, bool) {
	said := strings.TrimSpace(line)
	if len(in.Options) == 0 || slices.Contains(in.Options, said) {
		return said, said != ""
	}
	n, err := strconv.Atoi(said)
	if err != nil || n < 1 || n > len(in.Options) {
		return "", false
	}
	return in.Options[n-1], true
}
