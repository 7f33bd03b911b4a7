package notes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
	vaultadmin "collie/internal/vault/admin"
)

// This file has the command `collie vault sync`, which makes a folder and a notebook equal.

// vaultSyncFlags are the flags of vault sync.
type vaultSyncFlags struct {
	notebook         string
	once, watch, dry bool
	deletions        int
}

func (p commands) vaultSyncCommand() *cobra.Command {
	var f vaultSyncFlags
	c := &cobra.Command{
		Use: "sync DIR", Short: "Keep a folder of Markdown and a notebook equal, in both directions", Args: root.NamedArgs("folder"),
		Long: "Makes DIR, such as a vault of Obsidian, and a notebook equal: what changed on one side since the\n" +
			"last time is done on the other. From then on the gateway (collie serve) does it whenever one of\n" +
			"them changes; --once only does it now, and --watch goes on here until Ctrl-C.\n\n" +
			"A file is written only if its note was changed here, and then only the blocks that were. What\n" +
			"changed on both sides is kept twice: the file stays, and what the note said is in \"NAME\n" +
			"(conflict).md\" beside it. More than 10 deletions, or all files at once, wait for your yes.\n" +
			"Hidden files and folders are left alone.",
		Example: "  collie vault sync ~/Obsidian --dry-run\n  collie vault sync ~/Obsidian\n  collie vault sync ~/Obsidian --notebook Work --once\n  collie vault sync list",
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("allow-deletions") && f.deletions < 1 {
				return root.Usage("--allow-deletions: expected 1 or more, got %d", f.deletions)
			}
			return p.vaultSync(c.Context(), args[0], &f)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	c.Flags().StringVar(&f.notebook, "notebook", "", "keep it equal with the notebook `NAME` (default: that of the last time, or the name of DIR)")
	c.Flags().BoolVar(&f.once, "once", false, "only now: the gateway does not go on with it")
	c.Flags().BoolVar(&f.watch, "watch", false, "go on here until Ctrl-C, instead of in the gateway")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "only say what would be done")
	c.Flags().IntVar(&f.deletions, "allow-deletions", 0, "remove up to `N` files and notes without asking (default 10)")
	c.MarkFlagsMutuallyExclusive("once", "watch", "dry-run")
	c.AddCommand(p.vaultSyncListCommand(), p.vaultSyncStopCommand())
	return c
}

// vaultSync makes a folder and a notebook equal once. Then it has the gateway continue, or continues itself with --watch.
func (p commands) vaultSync(ctx context.Context, dir string, f *vaultSyncFlags) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	if dir, err = vaultadmin.PlaceOf(dir); err != nil {
		return err
	}
	for _, other := range cfg.Vault.Sync {
		if overlaps(dir, other) && !f.dry {
			return &tool.Error{
				Op: "vault sync", Kind: tool.Conflicting, Subject: dir, Message: locale.Sprintf("it lies in %s, or that in it, which is kept equal already", other),
				Hint: "collie vault sync stop ends that one",
			}
		}
	}
	v, end, err := p.vaultToFill(cfg, f.dry)
	if err != nil {
		return err
	}
	defer end()
	report, err := p.syncOnce(ctx, v, cfg, dir, f)
	if err != nil {
		if len(report.States) == 0 && !changedAnything(&report.Report) {
			return err
		}
		return errors.Join(err, p.showSync(v, dir, &report, syncStopped))
	}
	if f.dry {
		return p.showSync(v, dir, &report, syncTried)
	}
	if !f.once && !f.watch {
		if err := p.followFromNow(ctx, cfg, dir); err != nil {
			return err
		}
	}
	if err := p.showSync(v, dir, &report, syncDone); err != nil || !f.watch {
		return err
	}
	p.Note("watching %s; Ctrl-C ends it", dir)
	vaultadmin.Follow(ctx, v.Path(), []string{dir}, vaultadmin.FollowOptions{Logger: slog.New(slog.DiscardHandler), Sync: func(ctx context.Context, dir string) {
		report, err := p.syncOnce(ctx, v, cfg, dir, f)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			p.Warn("%v", err)
		case !report.Idle:
			if err := p.showSync(v, dir, &report, syncDone); err != nil && !errors.Is(err, root.Exit(root.ExitPartial)) {
				p.Warn("%v", err)
			}
		}
	}})
	return nil
}

// overlaps reports whether one of two different folders lies in the other.
func overlaps(a, b string) bool {
	if a == b {
		return false
	}
	inside := func(a, b string) bool { return len(a) > len(b) && a[:len(b)] == b && os.IsPathSeparator(a[len(b)]) }
	return inside(a, b) || inside(b, a)
}

// syncOnce makes a folder and its notebook equal, and puts the changes on record.
func (p commands) syncOnce(ctx context.Context, v *vaultadmin.Vault, cfg *config.Config, dir string, f *vaultSyncFlags) (vaultadmin.FolderSynced, error) {
	o := vaultadmin.FolderSync{Notebook: f.notebook, DryRun: f.dry, AllowDeletions: f.deletions}
	if p.CanAsk() && !f.dry {
		o.Confirm = func(d vaultadmin.FolderDeletions) bool { return p.confirmDeletions(ctx, d) }
	}
	b := p.NewBar("comparing")
	o.Progress = b.Show
	report, err := v.Sync(ctx, dir, o, func() { p.Note("another import into this vault is running: waiting for it to end") })
	b.Close()
	if !f.dry && !report.Idle && (len(report.States) > 0 || changedAnything(&report.Report)) {
		p.OnRecord(context.WithoutCancel(ctx), cfg, "vault sync", vaultadmin.SyncDetail(v.Path(), dir, &report))
	}
	return report, err
}

// maxShownDeletions is how many paths of each side are listed before the question.
const maxShownDeletions = 10

// confirmDeletions shows what would be deleted, and asks a person.
func (p commands) confirmDeletions(ctx context.Context, d vaultadmin.FolderDeletions) bool {
	for _, list := range []struct {
		what  string
		paths []string
	}{{"removed from the folder", d.Files}, {"removed from the notebook", d.Documents}} {
		for i, at := range list.paths {
			if i == maxShownDeletions {
				p.Note("and %d more; --json lists all", len(list.paths)-i)
				break
			}
			p.Note("%s: %s", locale.T(list.what), at)
		}
	}
	yes, err := p.AskYesNo(ctx, locale.Sprintf("remove %s from the folder and %s from the notebook?", locale.Count(len(d.Files), "file"), locale.Count(len(d.Documents), "document")), false)
	return yes && err == nil
}

// followFromNow adds the folder to those that the gateway keeps equal to their notebooks.
func (p commands) followFromNow(ctx context.Context, cfg *config.Config, dir string) error {
	if slices.Contains(cfg.Vault.Sync, dir) {
		return nil
	}
	return p.setFollowed(ctx, cfg, "vault sync", append(slices.Clone(cfg.Vault.Sync), dir))
}

// setFollowed writes the folders that the gateway keeps equal into the settings.
func (p commands) setFollowed(ctx context.Context, cfg *config.Config, command string, dirs []string) error {
	raw, err := json.Marshal(append([]string{}, dirs...))
	if err != nil {
		return err
	}
	file := root.SettingsFile(cfg)
	if err := cfg.Edit(ctx, file, config.Setting("vault.sync", raw)); err != nil {
		return root.NotWrittenError(command, file, err)
	}
	now, _, err := p.Settings()
	if err != nil {
		return err
	}
	p.RecordChange(ctx, now, command, map[string]any{"setting": "vault.sync", "file": file})
	return nil
}

// stateReasons explain the outcomes of a sync.
var stateReasons = map[string]string{
	"added": "new here", "updated": "the file has changed", "moved": "the file was moved", "restored": "removed here, but the file has changed",
	"removed": "removed here", "left-out": "it cannot be read", "written": "a new file for a note", "file-updated": "the note has changed",
	"file-moved": "the note has another title or place", "file-removed": "the note is gone", "document-removed": "the file is gone",
	"both-kept": "changed on both sides: both are kept", "held": "removed on one side: waits for your yes", "file-restored": "the file is gone, but the note has changed",
	"unchanged": "as it was", "gone": "not in the folder any more",
}

// syncEnd says how a sync ended.
type syncEnd int

const (
	syncDone    syncEnd = iota // it ran to its end; deletions may be held, and files may have failed
	syncTried                  // it was a dry run
	syncStopped                // it failed before both sides were equal
)

// showSync prints the outcome of a sync. It returns an error if files failed, or wait for a
// decision.
func (p commands) showSync(v *vaultadmin.Vault, dir string, r *vaultadmin.FolderSynced, ended syncEnd) error {
	partial := func(err error) error {
		if err == nil && (len(r.Problems) > 0 || r.Held.Count() > 0) {
			return root.Exit(root.ExitPartial)
		}
		return err
	}
	if p.JSON {
		states := r.States
		return partial(p.PrintJSON(map[string]any{
			"file": v.Path(), "place": dir, "notebook": map[string]string{"id": r.Notebook, "name": r.Name}, "idle": r.Idle, "documents": r.Documents, "files": r.Files,
			"states": states, "counts": stateCounts(&r.Report), "held": map[string]any{"files": append([]string{}, r.Held.Files...), "documents": append([]string{}, r.Held.Documents...)},
			"problems": append([]vaultadmin.FolderProblem{}, r.Problems...),
		}))
	}
	var rows [][]string
	more := 0
	for _, f := range r.States {
		if f.State == "unchanged" || f.State == "removed" || f.State == vaultadmin.FileAdded && r.Count(vaultadmin.FileAdded) == len(r.States) && ended != syncTried {
			continue
		}
		if len(rows) >= maxProblemRows {
			more++
			continue
		}
		why := locale.T(stateReasons[string(f.State)])
		if f.From != "" {
			why = locale.Sprintf("it was %s", f.From)
		}
		rows = append(rows, []string{f.Path, string(f.State), why})
	}
	if len(rows) > 0 {
		if err := p.Table([]string{"FILE", "STATE", "WHY"}, rows); err != nil {
			return err
		}
		if more > 0 {
			p.Note("and %d more; --json lists all", more)
		}
	}
	held := r.Held.Count()
	if held > 0 {
		p.Note("%s: nothing was removed yet; collie vault sync %s --allow-deletions %d removes it", locale.Count(held, "deletion"), dir, held)
	}
	headline := locale.Sprintf("%s and the notebook %s are equal", dir, r.Name)
	switch {
	case ended == syncDone && held > 0:
		headline = locale.Sprintf("%s and the notebook %s are equal but for the deletions that wait", dir, r.Name)
	case ended == syncTried:
		headline = locale.Sprintf("nothing was written; %s and the notebook %s would be equal", dir, r.Name)
	case ended == syncStopped:
		headline = locale.Sprintf("it stopped before %s and the notebook %s were equal", dir, r.Name)
	}
	return partial(p.showFolderText(headline, &r.Report))
}

func (p commands) vaultSyncListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Show the folders that are kept equal, and what is to be done", Args: cobra.NoArgs,
		Example: "  collie vault sync list\n  collie vault sync list --json",
		RunE:    func(c *cobra.Command, _ []string) error { return p.vaultSyncList(c.Context()) },
	}
}

// followedFolder is a folder that the gateway keeps equal.
type followedFolder struct {
	Folder   string `json:"folder"`
	Notebook string `json:"notebook"`
	// Waiting counts files that differ from their notes. Held counts the deletions among them that nobody has
	// confirmed.
	Waiting int    `json:"waiting"`
	Held    int    `json:"held"`
	Error   string `json:"error,omitempty"`
}

func (p commands) vaultSyncList(ctx context.Context) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	list := []followedFolder{}
	for _, dir := range cfg.Vault.Sync {
		list = append(list, p.compareFolder(ctx, cfg, dir))
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"folders": list})
	}
	if len(list) == 0 {
		p.Note("no folder is kept equal; collie vault sync DIR starts with one")
		return nil
	}
	rows := make([][]string, len(list))
	for i, f := range list {
		state := locale.T("equal")
		switch {
		case f.Error != "":
			state = f.Error
		case f.Held > 0:
			state = locale.Sprintf("%s: waits for your yes", locale.Count(f.Held, "deletion"))
		case f.Waiting > 0:
			state = locale.Sprintf("%s to sync", locale.Count(f.Waiting, "change"))
		}
		rows[i] = []string{f.Folder, f.Notebook, state}
	}
	return p.Table([]string{"FOLDER", "NOTEBOOK", "STATE"}, rows)
}

// compareFolder compares a folder with its notebook, without changing either.
func (p commands) compareFolder(ctx context.Context, cfg *config.Config, dir string) followedFolder {
	f := followedFolder{Folder: dir}
	v, end, err := p.vaultToFill(cfg, true)
	if err == nil {
		defer end()
		var report vaultadmin.FolderSynced
		if report, err = v.Sync(ctx, dir, vaultadmin.FolderSync{DryRun: true}, nil); err == nil {
			f.Notebook, f.Held = report.Name, report.Held.Count()
			for _, s := range report.States {
				if s.State != "unchanged" && s.State != "removed" {
					f.Waiting++
				}
			}
		}
	}
	if err != nil {
		f.Error = fmt.Sprint(err)
	}
	return f
}

func (p commands) vaultSyncStopCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stop DIR", Short: "Keep a folder equal no longer", Args: root.NamedArgs("folder"),
		Long:    "Ends collie vault sync DIR: the folder and the notebook stay as they are, and are no longer kept\nequal. collie vault sync DIR continues where it ended.",
		Example: "  collie vault sync stop ~/Obsidian",
		RunE:    func(c *cobra.Command, args []string) error { return p.vaultSyncStop(c.Context(), args[0]) },
	}
}

// vaultSyncStop removes a folder from those that the gateway keeps equal.
func (p commands) vaultSyncStop(ctx context.Context, dir string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	place, err := vaultadmin.PlaceOf(dir)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(cfg.Vault.Sync, func(at string) bool { return at == place || at == dir })
	if i < 0 {
		return &tool.Error{
			Op: "vault sync stop", Kind: tool.NotFound, Subject: place, Message: "the folder is not kept equal", Hint: "collie vault sync list shows those that are",
		}
	}
	if err := p.setFollowed(ctx, cfg, "vault sync stop", slices.Delete(slices.Clone(cfg.Vault.Sync), i, i+1)); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"folder": place, "stopped": true})
	}
	_, err = locale.Fprintf(p.Out, "✓ %s is kept equal no longer; nothing was removed\n", place)
	return err
}
