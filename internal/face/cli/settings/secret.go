package settings

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/tool"
)

// This file has the command `collie secret`, which stores, lists and removes named secrets.

// SecretCommand returns the command `collie secret`.
func SecretCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	return root.Group("secret", "Secrets, which the settings name as ${secret:NAME}",
		p.secretSetCommand(),
		p.secretListCommand(),
		p.secretRemoveCommand(),
	)
}

func (p commands) secretSetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set NAME", Short: "Store a secret", Args: root.NamedArgs("name"),
		Long: "Reads a value from the terminal, without showing it, or else from stdin, and stores it in the\n" +
			"system keyring, or in an encrypted file if there is none. A trailing line break is not part of\n" +
			"it. In the settings of servers, write ${secret:NAME} for it, and ${input:ID} for the secret\n" +
			"input:ID.",
		Example:           "  collie secret set GITHUB_TOKEN\n  pass show github | collie secret set GITHUB_TOKEN",
		ValidArgsFunction: p.completeSecrets,
		RunE:              func(c *cobra.Command, args []string) error { return p.secretSet(c.Context(), args[0]) },
	}
}

func (p commands) secretListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Show the names of all secrets, and where they are kept", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.secretList(c.Context()) },
	}
}

func (p commands) secretRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Forget a secret", Args: root.NamedArgs("name"),
		ValidArgsFunction: p.completeSecrets,
		RunE:              func(c *cobra.Command, args []string) error { return p.secretRemove(c.Context(), args[0]) },
	}
}

func (p commands) secretSet(ctx context.Context, name string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		return err
	}
	if err := secretadmin.CheckName(name); err != nil {
		return root.Usage("%v", err)
	}
	value, err := p.readSecret(name)
	if err != nil {
		return err
	}
	if err := store.Set(ctx, name, value); err != nil {
		return root.SecretError("secret set", name, err)
	}
	kind, err := store.Kind(ctx)
	if err != nil {
		return root.SecretError("secret set", name, err)
	}
	if p.JSON {
		err = p.PrintJSON(map[string]string{"set": name, "store": string(kind)})
	} else {
		_, err = locale.Fprintf(p.Out, "stored %s in the %s\n", name, kind)
	}
	if err != nil {
		return err
	}
	p.RecordChange(ctx, cfg, "secret set", map[string]any{"name": name, "store": string(kind)})
	return nil
}

// maxSecret is the maximum length of a secret in bytes. One byte more is read from stdin, to find out that it is longer.
const maxSecret = 1 << 20

// readSecret reads the value of a secret from the terminal, without showing it, or from stdin. It never comes from the
// command line, which other users can read and the shell stores.
func (p commands) readSecret(name string) (string, error) {
	var raw []byte
	var err error
	if f, ok := p.In.(*os.File); ok && output.IsTerminal(p.In) {
		locale.Fprintf(p.Err, "Value of %s (not shown): ", output.OneLine(name))
		raw, err = term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(p.Err)
	} else {
		raw, err = io.ReadAll(io.LimitReader(p.In, maxSecret+1))
	}
	if err != nil {
		return "", err
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")
	switch {
	case value == "":
		return "", root.Usage("the value of %s is empty; give it on the terminal or on stdin", name)
	case len(value) > maxSecret:
		return "", root.Usage("the value of %s has more than %d bytes", name, maxSecret)
	case strings.ContainsRune(value, 0):
		return "", root.Usage("the value of %s holds a zero byte, expected text", name)
	}
	return value, nil
}

func (p commands) secretList(ctx context.Context) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	names, err := secretadmin.Names(ctx, cfg)
	if err != nil {
		return root.SecretError("secret list", "", err)
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		return err
	}
	kind, err := store.Kind(ctx)
	switch {
	case err != nil:
		return root.SecretError("secret list", "", err)
	case p.JSON:
		return p.PrintJSON(map[string]any{"store": kind, "secrets": names})
	case len(names) == 0:
		p.Note("there are no secrets; collie secret set NAME stores one in the %s", kind)
		return nil
	}
	rows := make([][]string, len(names))
	for i, n := range names {
		rows[i] = []string{n, string(kind), "${secret:" + n + "}"}
	}
	return p.Table([]string{"NAME", "STORE", "WRITE"}, rows)
}

func (p commands) secretRemove(ctx context.Context, name string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	names, err := secretadmin.Names(ctx, cfg)
	if err != nil {
		return root.SecretError("secret remove", name, err)
	}
	if !slices.Contains(names, name) {
		e := &tool.Error{
			Op: "secret remove", Kind: tool.NotFound, Subject: name,
			Message: "no secret of that name", Hint: "collie secret list shows them",
		}
		if near, ok := tool.Nearest(name, names); ok {
			e.Hint = "did you mean " + near + "?"
		}
		return e
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		return err
	}
	if err := store.Delete(ctx, name); err != nil {
		return root.SecretError("secret remove", name, err)
	}
	if p.JSON {
		err = p.PrintJSON(map[string]string{"removed": name})
	} else {
		_, err = locale.Fprintf(p.Out, "removed %s\n", name)
	}
	if err != nil {
		return err
	}
	p.RecordChange(ctx, cfg, "secret remove", map[string]any{"name": name})
	return nil
}

func (p commands) completeSecrets(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const done = cobra.ShellCompDirectiveNoFileComp
	cfg, _, err := p.Settings()
	if len(args) > 0 || err != nil {
		return nil, done
	}
	names, err := secretadmin.Names(c.Context(), cfg)
	if err != nil {
		return nil, done
	}
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, typed) }), done
}
