package notes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// This file has the command `collie siyuan connection set`, which saves a connection after trying it.

// newKernel is a connection to be saved, as the command line or a page describes it.
type newKernel struct {
	name, url, token, tokenEnv string
	tokenStdin, untested       bool
	tokenGiven                 bool // also if the token is empty
}

// tokenFlags adds the flags that give a token.
func (n *newKernel) tokenFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&n.url, "url", "", "the `URL` of the kernel, such as "+notesadmin.ProposedKernel)
	flags.StringVar(&n.token, "token", "", "its API `TOKEN`, which others can read on a command line; \"\" for none")
	flags.StringVar(&n.tokenEnv, "token-env", "", "take the token from the variable `NAME` whenever it is needed")
	flags.BoolVar(&n.tokenStdin, "token-stdin", false, "read the token from stdin")
	flags.BoolVar(&n.untested, "no-test", false, "save it without asking the kernel")
	c.MarkFlagsMutuallyExclusive("token", "token-env", "token-stdin")
}

// readToken returns the token that the flags give. form is the text for the settings, if it is not a secret
// to be stored.
func (n *newKernel) readToken(p commands, c *cobra.Command) (form string, err error) {
	n.tokenGiven = c.Flag("token").Changed || c.Flag("token-env").Changed || n.tokenStdin
	switch {
	case n.tokenEnv != "":
		value, ok := p.Env.Lookup(n.tokenEnv)
		if !ok {
			p.Warn("%s is not set here and now", n.tokenEnv)
		}
		n.token = value
		return "env:" + n.tokenEnv, nil
	case n.tokenStdin:
		n.token, err = root.ReadLine(p.In)
		if n.token == "" && (err == nil || errors.Is(err, io.EOF)) {
			return "", root.Usage("--token-stdin: stdin is empty, expected the token")
		}
		return "", err
	case n.token != "":
		p.Warn("other programs on this machine can read a token on the command line; --token-stdin hides it")
	}
	return "", nil
}

func (p commands) siyuanConnectionSetCommand() *cobra.Command {
	var n newKernel
	c := &cobra.Command{
		Use: "set NAME", Short: "Save a connection, or change one", Args: root.NamedArgs("name"), ValidArgsFunction: p.CompleteConnections,
		Long: "Saves a connection in the settings, or changes the given values of one. The token is stored as\n" +
			"the secret siyuan_NAME, not in the settings. The kernel is contacted at once and its workspace\n" +
			"recorded, so that a different kernel at that address gets no notes. If no kernel answers, the\n" +
			"connection is saved anyway; if the token is wrong, it is not. The first connection becomes the\n" +
			"current one.",
		Example: "  collie siyuan connection set work --url http://127.0.0.1:6806 --token-stdin < token.txt\n" +
			"  collie siyuan connection set work --token-env SIYUAN_WORK",
		RunE: func(c *cobra.Command, args []string) error {
			n.name = args[0]
			return p.siyuanConnectionSet(c, &n)
		},
	}
	n.tokenFlags(c)
	return c
}

// siyuanConnectionSet tests the connection as it will be, and writes the given fields and the workspace.
func (p commands) siyuanConnectionSet(c *cobra.Command, n *newKernel) error {
	ctx := c.Context()
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	if err := checkConnectionName(n.name); err != nil {
		return err
	}
	saved, _ := app.Connections(cfg, p.Env)
	old, exists := saved.Get(n.name)
	exists = exists && saved.File == ""
	switch {
	case n.url == "" && !exists:
		return root.Usage("connection %s is new and needs --url, such as --url %s", n.name, notesadmin.ProposedKernel)
	case n.url != "":
		if n.url, err = notesadmin.KernelAddress(n.url); err != nil {
			return root.Usage("--url: %v", err)
		}
	}
	form, err := n.readToken(p, c)
	if err != nil {
		return err
	}
	if n.url == "" && !n.tokenGiven {
		return root.Usage("nothing to change: give --url or a token; see %s --help", c.CommandPath())
	}
	address, token, err := p.wouldBe(ctx, cfg, n, exists)
	if err != nil {
		return err
	}
	facts, err := p.tryToSave(ctx, n, address, token)
	if err != nil {
		return err
	}
	if exists && n.url == "" && facts != nil && !facts.ReadOnly { // the address stays, so the workspace must be the recorded one
		if err := (notesadmin.KernelChoice{Name: n.name, URL: address, Workspace: old.Workspace}).Verify(facts.Workspace); err != nil {
			return err
		}
	}
	fields := connectionFields{}
	if n.url != "" && n.url != old.URL {
		fields["url"], fields["workspace"] = &n.url, nil
	}
	if facts != nil && !facts.ReadOnly {
		fields["workspace"] = savedMember(facts.Workspace)
	}
	if n.tokenGiven {
		if form == "" {
			if form, err = p.keepToken(ctx, cfg, n.name, n.token); err != nil {
				return err
			}
		}
		if exists && form != old.TokenShown() {
			p.forgetToken(ctx, cfg, old)
		}
		fields["token"] = savedMember(form)
	}
	isFirst := saved.File != "" || len(saved.Connections) == 0
	file, err := p.saveConnection(ctx, cfg, "siyuan connection set", n.name, fields, isFirst)
	if err != nil {
		return err
	}
	if saved.File != "" && len(saved.Connections) > 0 {
		p.Note("the connections of %s are no longer used, now that there is one in %s", saved.File, file)
	}
	if n.tokenGiven && exists && form == old.TokenShown() {
		defer p.Note("a running gateway uses the old token until it is restarted")
	}
	return p.connectionSaved(ctx, "siyuan connection set", n.name, file, facts)
}

// wouldBe returns address and token of the connection as it will be saved. Both are empty if the saved ones cannot be read
// and the connection need not be tested.
func (p commands) wouldBe(ctx context.Context, cfg *config.Config, n *newKernel, exists bool) (address, token string, err error) {
	address, token = n.url, n.token
	if !exists || address != "" && n.tokenGiven {
		return address, token, nil
	}
	now, err := app.SavedChoice(ctx, cfg, p.Env, n.name)
	if err != nil {
		if n.tokenGiven || n.untested {
			return "", "", nil // the person may be correcting just that error: save without a test
		}
		return "", "", err
	}
	if !n.tokenGiven {
		token = now.Token.Reveal()
	}
	return output.FirstNonEmpty(address, now.URL), token, nil
}

// tryToSave tests the kernel to be saved. A wrong token is an error; a kernel that does not answer only
// causes a note.
func (p commands) tryToSave(ctx context.Context, n *newKernel, address, token string) (*notesadmin.KernelFacts, error) {
	if n.untested || address == "" {
		return nil, nil //nolint:nilnil // no test was made
	}
	facts, err := notesadmin.TryKernel(ctx, address, token, nil)
	e, ok := errors.AsType[*tool.Error](err)
	switch {
	case err == nil:
		fmt.Fprintln(p.Err, output.OneLine(kernelLine(address, &facts)))
		return &facts, nil
	case ok && e.Kind == tool.Unavailable && e.Code == notesadmin.KernelUnreachable:
		p.Note("not tested: %s; collie siyuan connection test %s does it later", locale.Sentence(e.Message), n.name)
		return nil, nil //nolint:nilnil // the kernel did not answer
	case ok:
		e.Hint = locale.Sprintf("%s; --no-test saves it anyway", unsavedHint(e, address))
	}
	return nil, err
}

// unsavedHint returns what to do about the error of a kernel that was tried.
func unsavedHint(e *tool.Error, address string) string {
	switch {
	case e.Kind == tool.Unauthorized:
		return locale.T("copy the token from SiYuan: Settings - About - API token, not the access authorization code")
	case e.Code == notesadmin.NotAKernel && strings.Count(address, "/") > 2:
		scheme, rest, _ := strings.Cut(address, "://")
		host, _, _ := strings.Cut(rest, "/")
		return locale.Sprintf("leave out what follows the host: %s://%s", scheme, host)
	case e.Code == notesadmin.NotAKernel:
		return locale.T("another program has that port; SiYuan shows its own in Settings - About")
	case e.Code == notesadmin.KernelUnreachable:
		return locale.T("start SiYuan, and see that the address is right")
	}
	return output.FirstNonEmpty(e.Hint, locale.T("nothing was saved"))
}
