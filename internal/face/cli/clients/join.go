package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/face/httpserver/tokens"
	hostadmin "collie/internal/source/upstream/hosts/admin"
	"collie/internal/tool"
)

// This file does the work of `collie connect`: it writes Collie into a client's settings and moves the client's servers
// to Collie.

// joining is one run of "collie connect" for a client.
type joining struct {
	commands
	*connectFlags
	client string
	cfg    *config.Config

	plan    *hostadmin.Connection
	options hostadmin.ConnectOptions // the options of plan, with --http

	duplicates []hostadmin.Duplicate // servers of the client that start the same as one of Collie's, or have its name
	imported   []string              // names, in the client's file, of servers that were imported now or before
}

// run plans the change of the client's file, imports the client's servers with --move, and writes the file.
func (j *joining) run(ctx context.Context) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := root.KnownProfile(j.cfg, j.profile); err != nil {
		return err
	}
	j.keepProfile(dir)
	if err := j.prepare(j.profile); err != nil { // so that it fails before anything is asked or written
		return err
	}
	profile, err := j.notesProfile(ctx)
	if err != nil {
		return err
	}
	if profile != j.profile {
		if err := j.prepare(profile); err != nil {
			return err
		}
	}
	if j.move {
		if err := j.importOwn(ctx, dir); err != nil {
			return err
		}
	}
	if j.duplicates, err = hostadmin.Duplicates(j.cfg, j.Env, j.client, dir, j.plan.File); err != nil {
		return err
	}
	if j.move {
		if err := j.plan.Remove(j.servedDuplicates()); err != nil {
			return err
		}
		j.duplicates = slices.DeleteFunc(j.duplicates, func(t hostadmin.Duplicate) bool {
			return t.File == j.plan.File && slices.Contains(j.plan.Removed(), t.Name)
		})
	}
	return j.write(ctx, profile)
}

// servedDuplicates returns the duplicates that Collie really serves, without those that only have the name of one of its
// servers.
func (j *joining) servedDuplicates() (list []hostadmin.Duplicate) {
	for _, t := range j.duplicates {
		if t.Same || slices.Contains(j.imported, t.Name) {
			list = append(list, t)
		}
	}
	return list
}

// keepProfile sets j.profile to the profile that the client already has, if the command line names neither a profile nor
// a file.
func (j *joining) keepProfile(dir string) {
	if j.profile != "" || j.file != "" {
		return
	}
	for _, c := range hostadmin.ClientConnections(j.Env, dir, j.programExists) {
		if c.HTTP {
			c.Profile = j.tokenProfile()
		}
		if c.Client == j.client && c.Name == j.name && root.KnownProfile(j.cfg, c.Profile) == nil {
			j.profile = c.Profile
			return
		}
	}
}

// prepare sets j.plan to the change of the client's file that adds Collie with this profile.
func (j *joining) prepare(profile string) (err error) {
	o := hostadmin.ConnectOptions{Name: j.name, Command: j.Path(), File: j.file, Force: j.force}
	if o.Command == "" {
		return &tool.Error{Op: "connect", Kind: tool.Internal, Message: "the path of this program is not known"}
	}
	if o.Args, err = j.StdioArgs(profile); err != nil {
		return err
	}
	if j.http {
		o.URL, o.Token, o.TokenEnv = j.gatewayURL(), tokenPlaceholder, j.tokenEnv
		j.options = o
	}
	j.plan, err = hostadmin.Connect(j.client, j.Env, o)
	return err
}

// importOwn imports the servers in the client's file, as mcp import does. With --dry-run it only adds them to j.cfg.
func (j *joining) importOwn(ctx context.Context, dir string) error {
	if !j.plan.FileExists() {
		return nil
	}
	found, err := hostadmin.PlanImport(j.cfg, j.Env, hostadmin.ImportOptions{From: j.client, File: j.plan.File, Dir: dir, OnlyHere: true, Reserved: j.cfg.ReservedNames()})
	if err != nil {
		return err
	}
	for _, s := range found.Servers {
		if s.State != hostadmin.ImportSkipped {
			j.imported = append(j.imported, s.From)
		}
	}
	if !j.JSON {
		if err := j.importTable(found); err != nil {
			return err
		}
	}
	file := root.SettingsFile(j.cfg)
	names, err := j.writeServers(ctx, j.cfg, found, file, &importFlags{secrets: j.secrets, dryRun: j.dry, moved: true})
	if err != nil || len(names) == 0 {
		return err
	}
	if !j.dry {
		j.Note("added %s to %s", strings.Join(names, ", "), file)
		j.cfg, _, err = j.Settings()
		return err
	}
	entries, err := found.Entries(locale.T("the import"), filepath.Dir(file))
	with := *j.cfg
	with.Servers = slices.Concat(j.cfg.Servers, entries)
	j.cfg = &with
	return err
}

// write changes the client's file and prints the change. With --dry-run it only prints it.
func (j *joining) write(ctx context.Context, profile string) error {
	plan := j.plan
	due, err := j.tokenDue(profile)
	if err != nil {
		return err
	}
	changed := plan.Changed || due != tokenStays
	do := changed && !j.dry
	if do {
		if j.file == "" && !hostadmin.IsInstalled(j.Env, j.client, plan.File, j.programExists) {
			j.Warn("%s does not seem to be installed: its program is not in PATH, and it has no files in %s", plan.Client.Title, root.ShortPath(filepath.Dir(plan.File), j.Env))
		}
		if err := j.apply(ctx, profile, due); err != nil {
			return err
		}
	}
	j.warnDuplicates()
	if j.JSON {
		return j.PrintJSON(map[string]any{
			"client": j.client, "file": plan.File, "path": plan.Path, "entry": plan.Entry, "profile": profile,
			"changed": changed, "taken": plan.Removed(), "twice": append([]hostadmin.Duplicate{}, j.duplicates...), "written": do, "next": plan.Next,
		})
	}
	text := plan.Describe(do)
	if removed := strings.Join(plan.Removed(), ", "); removed != "" {
		verb := "would take out"
		if do {
			verb = "took out"
		}
		text += locale.Sprintf("%s %s; to put them back:\n  %s\n", verb, removed, j.TypedWith("connect "+j.client+" --restore", nil))
	}
	switch {
	case do && !plan.Changed && due == tokenProfiled:
		text += locale.Sprintf("the token %s is for profile %s now\n", j.tokenName(), profile)
	case do:
		text += locale.Sprintf("done. %s\n", locale.Sentence(plan.Next))
	case changed:
		text += "nothing was written (--dry-run)\n"
	}
	_, err = fmt.Fprint(j.Out, text)
	return err
}

// apply writes the client's file, does what is due about its token, and puts the change on record.
func (j *joining) apply(ctx context.Context, profile string, due tokenDue) error {
	detail := map[string]any{"client": j.client, "file": j.plan.File, "name": j.name}
	change := j.plan.ApplyRecorded
	if j.http {
		detail["token"] = j.tokenName()
		change = func(ctx context.Context, cfg *config.Config) error { return j.applyHTTP(ctx, cfg, profile) }
		if !j.plan.Changed && due == tokenProfiled {
			change = func(ctx context.Context, cfg *config.Config) error {
				return tokens.SetProfile(ctx, tokens.Path(cfg.Paths.State), j.tokenName(), profile)
			}
		}
	}
	if err := change(ctx, j.cfg); err != nil {
		return err
	}
	if removed := j.plan.Removed(); len(removed) > 0 {
		detail["takenOut"] = removed
	}
	j.OnRecord(ctx, j.cfg, "connect", detail)
	return nil
}

// warnDuplicates warns of servers that the client starts itself too, with the files that define them and what to do.
func (j *joining) warnDuplicates() {
	for _, same := range []bool{true, false} {
		var files []string
		names := map[string][]string{}
		for _, t := range j.duplicates {
			if t.Same != same {
				continue
			}
			if !slices.Contains(files, t.File) {
				files = append(files, t.File)
			}
			names[t.File] = append(names[t.File], t.Name)
		}
		for _, file := range files {
			consequence := locale.T("so that it has their tools twice")
			if !same {
				consequence = locale.T("and Collie has others of these names")
			}
			do := locale.T(". Remove them from that file if nothing else needs them")
			if file == j.plan.File && !j.move {
				do = locale.Sprintf(". This moves them to Collie:\n  %s", j.Typed("connect "+j.client+" --move"))
			}
			j.Warn("%s starts %s itself too\n  (%s), %s%s", j.plan.Client.Title, strings.Join(names[file], ", "), root.ShortPath(file, j.Env), consequence, do)
		}
	}
}

// notesProfile returns the profile for the client. If the flags or the person at the terminal say whether the client gets
// the tools for notes, it changes the tools that a profile hides, and creates that profile if need be.
func (j *joining) notesProfile(ctx context.Context) (string, error) {
	profile := output.FirstNonEmpty(j.profile, j.client)
	current, known := j.cfg.Profiles[profile]
	usual := j.profile
	if known {
		usual = profile
	}
	hidden := func(name string) bool { return slices.Contains(config.NotesTools(), name) }
	offered := app.NotesOffered(j.cfg, j.Env, app.KernelFlags{})
	keep := slices.DeleteFunc(slices.Clone(current.Tools.Exclude), hidden)
	switch {
	case j.withTheNotes && !offered:
		return "", root.Usage("--notes: the tools for notes are switched off in these settings")
	case j.withTheNotes && len(keep) < len(current.Tools.Exclude):
		return profile, j.setExclude(ctx, profile, keep)
	case j.withTheNotes || j.withoutNotes && !offered:
		return usual, nil
	case !j.withoutNotes && (known || j.profile != "" || !offered || j.dry || !j.plan.Changed || !j.CanAsk()):
		return usual, nil
	case !j.withoutNotes:
		yes, err := j.AskYesNo(ctx, locale.Sprintf("Give %s the tools for your notes too?", j.plan.Client.Title), true)
		if err != nil || yes {
			return usual, err
		}
	}
	if !known && slices.Contains(app.ProfileNames(), profile) {
		return "", root.Usage("--no-notes changes a profile of the settings, and %q is built in; leave --profile out, or name another", profile)
	}
	return profile, j.setExclude(ctx, profile, append(keep, config.NotesTools()...))
}

// setExclude writes which tools a profile hides and reads the settings again. With --dry-run it does nothing.
func (j *joining) setExclude(ctx context.Context, profile string, tools []string) error {
	if j.dry || slices.Equal(tools, j.cfg.Profiles[profile].Tools.Exclude) {
		return nil
	}
	raw, err := json.Marshal(tools)
	if err != nil {
		return err
	}
	file := root.SettingsFile(j.cfg)
	path := "/profiles/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(profile) + "/tools/exclude"
	if err := j.cfg.Edit(ctx, file, config.Setting(path, raw)); err != nil {
		return root.NotWrittenError("connect", file, err)
	}
	j.Note("set profile %s in %s", profile, file)
	j.RecordChange(ctx, j.cfg, "config set", map[string]any{"setting": path, "file": file})
	j.cfg, _, err = j.Settings()
	return err
}
