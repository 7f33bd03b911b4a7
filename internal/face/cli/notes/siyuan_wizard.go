package notes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// This file asks a person for a connection to SiYuan, step by step, until a kernel answers.

// askKernel asks for a name, an address and a token until a kernel answers. Facts and error are both nil if the person
// chooses to save a kernel that does not answer. The error is io.EOF at the end of the input, and that of errLeft after q.
func (p commands) askKernel(ctx context.Context, cfg *config.Config, n *newKernel) (*notesadmin.KernelFacts, error) {
	saved, _ := app.Connections(cfg, p.Env)
	if err := p.askName(ctx, &saved, n); err != nil {
		return nil, err
	}
	proposed := notesadmin.ProposedKernel
	for _, name := range []string{currentOf(&saved), n.name} { // the address of the one to replace, else of the current one
		if old, ok := saved.Get(name); ok {
			proposed = old.URL
		}
	}
	for next := 'u'; ; { // what to ask for; see askAfterFailure
		if next == 'u' {
			if err := p.askAddress(ctx, proposed, n); err != nil {
				return nil, err
			}
			proposed = n.url
		}
		if next == 'u' || next == 't' {
			token, err := p.Prompt(ctx, "API token, from SiYuan: Settings - About - API token (not shown; Enter for none): ", true)
			if err != nil {
				return nil, err
			}
			n.token = strings.TrimSpace(token)
		}
		facts, err := notesadmin.TryKernel(ctx, n.url, n.token, nil)
		if err == nil {
			fmt.Fprintln(p.Err, output.OneLine(kernelLine(n.url, &facts)))
			return &facts, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if next, err = p.askAfterFailure(ctx, n.url, err); err != nil || next == 's' {
			return nil, err
		}
	}
}

// askName asks for the name of the connection. One in collie.json is replaced only after a yes; connections of an old file are
// not written, so nothing is asked about them.
func (p commands) askName(ctx context.Context, saved *notesadmin.SavedKernels, n *newKernel) error {
	for answer := n.name; ; answer = "" {
		var err error
		if n.name = answer; n.name == "" {
			if n.name, err = p.PromptOr(ctx, "Name of this connection", defaultConnection); err != nil {
				return err
			}
		}
		if err := checkConnectionName(n.name); err != nil {
			fmt.Fprintf(p.Err, "  %v\n", err)
			continue
		}
		old, exists := saved.Get(n.name)
		if !exists || saved.File != "" {
			return nil
		}
		answer, err := p.Prompt(ctx, locale.Sprintf("%s already exists (%s). Replace it? [y/N] ", output.OneLine(n.name), old.URL), false)
		if err != nil || root.IsYes(answer) {
			return err
		}
	}
}

// askAddress asks for the address of the kernel until it is valid.
func (p commands) askAddress(ctx context.Context, proposed string, n *newKernel) error {
	for {
		address, err := p.PromptOr(ctx, "Address of the SiYuan kernel", proposed)
		if err != nil {
			return err
		}
		if n.url, err = notesadmin.KernelAddress(address); err == nil {
			return nil
		}
		fmt.Fprintf(p.Err, "  %v\n", err)
	}
}

// askAfterFailure prints what went wrong and asks how to go on: u for another address, t for another token, r to
// retry, s to save anyway.
func (p commands) askAfterFailure(ctx context.Context, address string, failed error) (rune, error) {
	usual, message, hint := 'u', failed.Error(), ""
	if e, ok := errors.AsType[*tool.Error](failed); ok {
		message, hint = output.FirstNonEmpty(e.Message, message), unsavedHint(e, address)
		switch {
		case e.Kind == tool.Unauthorized:
			usual = 't'
		case e.Code == notesadmin.KernelUnreachable:
			usual = 'r'
		}
	}
	fmt.Fprintf(p.Err, "%s %s\n", p.Painter(p.Err).Mark("✗"), output.OneLine(message))
	if hint != "" {
		fmt.Fprintf(p.Err, "  %s\n", output.OneLine(hint))
	}
	for {
		answer, err := p.PromptOr(ctx, "Try again (r), another address (u), another token (t), save it anyway (s), or quit (q)?", string(usual))
		if err != nil {
			return 0, err
		}
		switch key := strings.ToLower(answer); key {
		case "r", "u", "t", "s":
			return rune(key[0]), nil
		case "q":
			return 0, errLeft()
		}
	}
}
