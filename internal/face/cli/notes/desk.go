package notes

import (
	"context"
	"errors"
	"fmt"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// This file manages connections to SiYuan for the pages in the browser.

// Desk manages connections to SiYuan as `collie siyuan connection` does, but asks no questions. Its changes take effect when
// the gateway reads its settings again.
type Desk struct{ Program *root.Program }

// Kernels are the saved connections.
type Kernels struct {
	List    []Kernel
	Current string // the default one; empty if there is none
	Vault   bool   // the built-in vault is in use, even if connections are saved
	File    string // the other program's file that has the connections; empty for the settings of Collie
	Fixed   string // the environment variable that overrides the saved connections; empty for none
}

// Kernel is a saved connection.
type Kernel struct {
	Name, URL, Token, Workspace string // the token is "configured", "empty" or where it comes from
}

// Kernels returns the saved connections.
func (d Desk) Kernels() (Kernels, error) {
	cfg, _, err := d.Program.Settings()
	if err != nil {
		return Kernels{}, err
	}
	saved, _ := app.Connections(cfg, d.Program.Env)
	out := Kernels{List: []Kernel{}, Current: currentOf(&saved), Vault: saved.UsesVault(), File: saved.File}
	if address := d.Program.Env.Get("SIYUAN_API_URL"); address != "" {
		out.Fixed = "SIYUAN_API_URL=" + address
	}
	for _, c := range saved.Connections {
		out.List = append(out.List, Kernel{c.Name, c.URL, c.TokenShown(), c.Workspace})
	}
	return out, nil
}

// Try asks the kernel of a saved connection who it is.
func (d Desk) Try(ctx context.Context, name string) (notesadmin.KernelFacts, error) {
	cfg, _, err := d.Program.Settings()
	if err != nil {
		return notesadmin.KernelFacts{}, err
	}
	saved, _ := app.Connections(cfg, d.Program.Env)
	if _, ok := saved.Get(name); !ok {
		_, err := ownConnection("siyuan connection test", name, &saved)
		return notesadmin.KernelFacts{}, err
	}
	choice, err := app.SavedChoice(ctx, cfg, d.Program.Env, name)
	if err != nil {
		return notesadmin.KernelFacts{}, err
	}
	facts, err := notesadmin.TryKernel(ctx, choice.URL, choice.Token.Reveal(), nil)
	if err == nil && !facts.ReadOnly {
		err = choice.Verify(facts.Workspace)
	}
	return facts, err
}

// Wanted is a connection to save.
type Wanted struct {
	Name, URL string
	Token     *string // nil keeps the present one
	Untested  bool    // save it without asking the kernel
}

// Save saves a connection, or changes one, after its kernel has answered. It returns what the kernel said of itself, nil if
// w is Untested, and the settings file.
func (d Desk) Save(ctx context.Context, w Wanted) (facts *notesadmin.KernelFacts, file string, err error) {
	const op = "siyuan connection set"
	p := commands{d.Program}
	cfg, _, err := p.Settings()
	if err != nil {
		return nil, "", err
	}
	if err := checkConnectionName(w.Name); err != nil || w.Name == notesadmin.Vault {
		return nil, "", &tool.Error{Op: op, Kind: tool.Invalid, Subject: w.Name, Message: "a connection cannot have this name", Hint: "letters, digits, _ and - make a name"}
	}
	saved, _ := app.Connections(cfg, p.Env)
	old, exists := saved.Get(w.Name)
	exists = exists && saved.File == ""
	n := newKernel{name: w.Name, untested: w.Untested, tokenGiven: w.Token != nil}
	if w.Token != nil {
		n.token = *w.Token
	}
	if n.url, err = notesadmin.KernelAddress(output.FirstNonEmpty(w.URL, old.URL)); err != nil {
		return nil, "", &tool.Error{Op: op, Kind: tool.Invalid, Subject: w.URL, Err: err, Hint: "such as " + notesadmin.ProposedKernel}
	}
	fields := connectionFields{"url": &n.url}
	if !w.Untested {
		_, token, err := p.wouldBe(ctx, cfg, &n, exists)
		if err != nil {
			return nil, "", err
		}
		got, err := notesadmin.TryKernel(ctx, n.url, token, nil)
		if e, ok := errors.AsType[*tool.Error](err); ok {
			e.Hint = unsavedHint(e, n.url)
		}
		if err != nil {
			return nil, "", err
		}
		facts = &got
		if !got.ReadOnly {
			fields["workspace"] = savedMember(got.Workspace)
		}
	} else if n.url != old.URL {
		fields["workspace"] = nil
	}
	if err := p.giveToken(ctx, cfg, &n, old, exists, fields); err != nil {
		return nil, "", err
	}
	isFirst := saved.File != "" || len(saved.Connections) == 0
	file, err = p.saveConnection(ctx, cfg, op, n.name, fields, isFirst)
	return facts, file, err
}

// giveToken stores the token of n as the secret of the connection, and adds the reference to it to fields. It does nothing
// if n has no new token.
func (p commands) giveToken(ctx context.Context, cfg *config.Config, n *newKernel, old notesadmin.SavedKernel, exists bool, fields connectionFields) error {
	if !n.tokenGiven {
		return nil
	}
	form, err := p.keepToken(ctx, cfg, n.name, n.token)
	if err != nil {
		return err
	}
	if exists && form != old.TokenShown() {
		p.forgetToken(ctx, cfg, old)
	}
	fields["token"] = savedMember(form)
	return nil
}

// Use makes a saved connection the current one, or chooses the built-in vault by the name "vault".
func (d Desk) Use(ctx context.Context, name string) (file string, err error) {
	const op = "siyuan connection use"
	p := commands{d.Program}
	cfg, _, err := p.Settings()
	if err != nil {
		return "", err
	}
	saved, _ := app.Connections(cfg, p.Env)
	if name != notesadmin.Vault {
		if _, err := ownConnection(op, name, &saved); err != nil {
			return "", err
		}
	}
	return p.saveConnection(ctx, cfg, op, name, nil, true)
}

// Remove forgets a saved connection and its token.
func (d Desk) Remove(ctx context.Context, name string) (file string, err error) {
	p := commands{d.Program}
	cfg, _, err := p.Settings()
	if err != nil {
		return "", err
	}
	saved, _ := app.Connections(cfg, p.Env)
	c, err := ownConnection("siyuan connection remove", name, &saved)
	if err != nil {
		return "", err
	}
	if file, err = p.removeConnection(ctx, cfg, &saved, name); err != nil {
		return "", err
	}
	p.forgetToken(ctx, cfg, c)
	return file, nil
}

// removeConnection removes a connection from the settings file.
func (p commands) removeConnection(ctx context.Context, cfg *config.Config, saved *notesadmin.SavedKernels, name string) (file string, err error) {
	file = root.SettingsFile(cfg)
	err = cfg.Edit(ctx, file, func(text []byte) ([]byte, error) {
		found := false
		text, err := config.Unsetting(connectionPath(name), &found)(text)
		if err == nil && !found {
			err = fmt.Errorf("connection %q is in another settings file", name)
		}
		if err != nil || saved.Current != name {
			return text, err
		}
		return unsetting("/siyuan/current")(text)
	})
	if err != nil {
		return file, root.NotWrittenError("siyuan connection remove", file, err)
	}
	return file, nil
}
