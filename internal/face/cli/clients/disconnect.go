package clients

import (
	"context"
	"fmt"
	"os"
	"strings"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/process"
	hostadmin "collie/internal/source/upstream/hosts/admin"
)

// This file removes Collie from a client's settings, and lists the clients that are connected.

// disconnect reverts what connect did to a client's files.
func (p commands) disconnect(ctx context.Context, cfg *config.Config, client string, f *connectFlags) error {
	o := hostadmin.DisconnectOptions{Client: client, File: f.file, Restore: f.restore, Remove: f.remove, Dry: f.dry}
	if f.name != "collie" { // "collie" is the default of --name; o.Name stays empty then, which means all entries that start Collie
		o.Name = f.name
	}
	done, err := hostadmin.Disconnect(ctx, cfg, p.Env, o)
	if !f.dry && f.remove && err == nil {
		err = p.revokeTokens(ctx, cfg, client, f)
	}
	if !f.dry && len(done) > 0 {
		p.OnRecord(ctx, cfg, "connect", map[string]any{"client": client, "files": done})
	}
	if err != nil {
		for _, d := range done {
			_, _ = fmt.Fprint(p.Err, disconnectedText(&d, f.dry)) // tell which files were changed before the error
		}
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"client": client, "files": append([]hostadmin.Disconnected{}, done...), "written": !f.dry && len(done) > 0})
	}
	if len(done) == 0 {
		message := locale.T("there is nothing to put back")
		if f.remove {
			message = locale.T("Collie is not connected there")
		}
		_, err := locale.Fprintf(p.Out, "%s; collie connect --list shows where it is\n", message)
		return err
	}
	var text strings.Builder
	for _, d := range done {
		text.WriteString(disconnectedText(&d, f.dry))
	}
	if f.dry {
		text.WriteString(locale.T("nothing was written (--dry-run)\n"))
	}
	_, err = fmt.Fprint(p.Out, text.String())
	return err
}

// disconnectedText describes what was done to one file, or with dry what would be done.
func disconnectedText(d *hostadmin.Disconnected, dry bool) string {
	var b strings.Builder
	say := func(did, would string, names []string) {
		if dry {
			did = would
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "  %s %s\n", locale.T(did), strings.Join(names, ", "))
		}
	}
	fmt.Fprintf(&b, "%s\n", d.File)
	say("put back", "would put back", d.Restored)
	say("left as it is there:", "would leave as it is there:", d.NameTaken)
	say("took out", "would take out", d.Removed)
	switch {
	case d.Deleted:
		b.WriteString(locale.T("  the file was created for Collie and holds nothing else, so it was removed\n"))
	case d.Exact:
		b.WriteString(locale.T("  the file is byte for byte what it was before\n"))
	case len(d.Restored) > 0:
		b.WriteString(locale.T("  the file has changed since then, so the restored servers are at the end of the list\n"))
	}
	return b.String()
}

// programExists reports whether the program of a command is installed.
func (p commands) programExists(command string) bool {
	_, err := process.Resolve(command, p.Env.List(), "")
	return err == nil
}

// connectList shows which clients are connected to Collie.
func (p commands) connectList() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	list := hostadmin.ClientConnections(p.Env, dir, p.programExists)
	if p.JSON {
		return p.PrintJSON(map[string]any{"clients": list})
	}
	var rows [][]string
	var absent []string
	for _, c := range list {
		var state, settings string
		switch {
		case c.Problem != "":
			state = locale.T("unreadable")
		case c.Name == "" && !c.Installed:
			absent = append(absent, c.Client)
			continue
		case c.Name == "":
			state = locale.T("not connected")
		case c.Missing:
			state = locale.Sprintf("broken: no %s", root.ShortPath(c.Command, p.Env))
		case c.Off:
			state = locale.T("switched off there")
		default:
			state = locale.T("connected")
		}
		if c.Name != "" {
			settings = p.settingsOf(&c)
		}
		rows = append(rows, []string{c.Client, state, settings, root.ShortPath(c.File, p.Env)})
	}
	if len(rows) > 0 {
		if err := p.TableWhole([]string{"CLIENT", "STATE", "SETTINGS", "FILE"}, rows); err != nil {
			return err
		}
	}
	if len(absent) > 0 {
		_, err = locale.Fprintf(p.Out, "not found here: %s\n", strings.Join(absent, ", "))
	}
	return err
}

// settingsOf returns which settings a client's entry uses.
func (p commands) settingsOf(c *hostadmin.ClientEntry) string {
	if c.HTTP {
		return locale.T("over HTTP, with a token")
	}
	var words []string
	if c.Home != "" {
		words = append(words, "--home "+root.ShortPath(c.Home, p.Env))
	}
	for _, file := range c.Config {
		words = append(words, "--config "+root.ShortPath(file, p.Env))
	}
	if c.Profile != "" {
		words = append(words, "--profile "+c.Profile)
	}
	return output.FirstNonEmpty(strings.Join(words, " "), locale.T("your own"))
}
