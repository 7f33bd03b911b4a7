// Package app is the one place where the parts are joined: [Open] turns settings into an
// [App] that can be called and managed. Faces hold an App; they never see a source or a
// store.
package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/config"
	"collie/internal/event"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate"
	"collie/internal/pipeline/limit"
	"collie/internal/process"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/guide"
	"collie/internal/source/upstream"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/source/upstream/toolcache"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// Options are what settings do not say.
type Options struct {
	Version string
	// Self and ReaperArgs start this program as the reaper of its children; without Self
	// there is no reaper.
	Self       string
	ReaperArgs []string
	// Servers names the servers to start; nil starts all, an empty list none.
	Servers []string
	// Brief is for a command that a person waits for: its servers get less time to end.
	Brief bool
	// Calls says that a call follows at once: its record is prepared meanwhile.
	Calls bool
	// Sweep ends what an earlier gateway of this home left behind.
	Sweep bool
	// Computes hears of what may compute for long, before it begins; nil where nobody wants to know.
	Computes func()
	// Kernel is what the command line says of the SiYuan kernel to use.
	Kernel KernelFlags
	// WorkDir is the folder whose files a person at this terminal may let actions touch; empty
	// for servers.
	WorkDir string
	Env     config.Env
	Logger  *slog.Logger // nil discards
}

// App is everything joined. It is safe for concurrent use. Close ends it.
type App struct {
	Pipeline *pipeline.Pipeline
	Servers  serveradmin.Servers
	// ToolCache is what is kept of the servers' offers.
	ToolCache cacheadmin.Cache
	// Notes is the SiYuan source.
	Notes  *Notes
	Audit  *audit.Log
	Events *event.Bus[tool.CallDone]

	log     *slog.Logger
	catalog *source.Catalog
	set     *upstream.Set
	cache   *toolcache.Cache
	pins    *pins.Store
	reaper  *process.Reaper
	ledger  *process.Ledger
	env     config.Env

	first      *config.Config // that it was opened with
	firstFiles []string       // those of WatchedFiles for it

	counting counting
	host     host
	brief    bool

	reloading sync.Mutex
	cfg       *config.Config // what runs; guarded by reloading
}

// instructions is our own advice to models.
const instructions = "Collie joins several tool servers. A tool's name begins with its server's. " +
	"A tool with an \"action\" argument groups several actions; its description says how to ask for help."

// Open joins the parts as cfg says and starts the servers in the background.
func Open(ctx context.Context, cfg *config.Config, opts Options) (*App, error) {
	a := &App{log: opts.Logger, Events: &event.Bus[tool.CallDone]{}, env: opts.Env, cfg: cfg, brief: opts.Brief}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	specs, findings := serveradmin.Specs(cfg, opts.Env)
	a.first, a.firstFiles = cfg, envFiles(specs)
	for _, f := range findings {
		a.log.Warn("settings", "finding", f.String())
	}
	log, err := audit.Open(cfg.Audit.Dir, &audit.Options{
		Secrets: secrets(specs), Content: audit.Content(cfg.Audit.Content), Version: opts.Version, Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	a.Audit = log
	if opts.Calls {
		log.Prepare()
	}
	if err := a.openServers(ctx, cfg, opts, specs); err != nil {
		return nil, err
	}
	a.Notes = &Notes{log: a.log, env: opts.Env, opts: opts, app: a}
	a.Notes.open(ctx, cfg)
	a.catalog = source.New(a.sources(), source.Options{
		Profiles: profiles(cfg, a.Notes.profiles()), Reserved: reservedTools(cfg), Instructions: a.instructions(),
		Chosen: newChosenViews(cfg, !opts.Brief, a.log), Logger: a.log,
	})
	a.Pipeline = pipeline.New(a.catalog, pipeline.Options{
		Audit: log, OnFailure: audit.OnFailure(cfg.Audit.OnFailure), Bus: a.Events, Logger: a.log,
		Limits: limit.Options{
			PerSession: cfg.MCP.Limits.MaxInFlight, MaxCall: cfg.MCP.Limits.MaxCallTimeout, MaxArgs: int(cfg.HTTP.MaxBody),
		},
		Gate: gate.Options{Dir: pendingDir(cfg)},
	})
	a.count(cfg, opts.Version, secrets(specs))
	a.set.Start(opts.Servers)
	return a, nil
}

// openServers opens the servers, and what is kept of them. It starts none.
func (a *App) openServers(ctx context.Context, cfg *config.Config, opts Options, specs []upstream.Spec) error {
	a.reapChildren(ctx, cfg, opts)
	key := a.openCache(ctx, cfg, opts)
	tokens, err := secretadmin.Open(cfg, a.log)
	if err != nil {
		return errors.Join(err, a.closeStores())
	}
	o := serveradmin.Options(cfg, opts.Env)
	o.Info, o.Reaper, o.Ledger = serveradmin.Info(opts.Version), a.reaper, a.ledger
	o.Cache, o.Key, o.Pins, o.Tokens, o.Logger = a.cache, key, a.pins, tokens, a.log
	if opts.Brief {
		o.Ladder = serveradmin.Briefly
	}
	a.set = upstream.NewSet(specs, o)
	a.Servers = serveradmin.Servers{Set: a.set, Reread: a.reread}
	a.ToolCache = cacheadmin.Cache{Cache: a.cache, Cleared: a.set.Cleared}
	return nil
}

// sources are all sources in the order in which they win names: our own tools first.
func (a *App) sources() []tool.Source { return append(a.Notes.sources(), a.set.Sources()...) }

// instructions is our own advice, and that of our own tools where they are offered.
func (a *App) instructions() string {
	if len(a.Notes.sources()) == 0 {
		return instructions
	}
	return instructions + "\n\n" + guide.Instructions
}

// reapChildren prepares what makes sure that no child outlives us.
func (a *App) reapChildren(ctx context.Context, cfg *config.Config, opts Options) {
	if opts.Self == "" {
		return
	}
	a.reaper = process.NewReaper(opts.Self, opts.ReaperArgs, a.log)
	if err := os.MkdirAll(cfg.Paths.State, 0o700); err != nil {
		a.log.Warn("no state folder, children are not recorded", "error", err)
		return
	}
	file := atomicfile.File{Path: filepath.Join(cfg.Paths.State, "run", "children.json"), NoSync: true}
	a.ledger = process.OpenLedger(file, a.log)
	if !opts.Sweep {
		return
	}
	ended, err := a.ledger.Sweep(ctx)
	if err != nil {
		a.log.Warn("leftovers of an earlier gateway not looked for", "error", err)
	}
	for _, c := range ended {
		a.log.Info("ended what an earlier gateway left behind", "server", c.Label, "pid", c.Pid)
	}
}

// secrets are all values that must not reach the audit.
func secrets(specs []upstream.Spec) []string {
	var out []string
	for _, s := range specs {
		out = append(out, s.Entry.Secrets...)
	}
	return out
}

// profiles are the views of the settings as the catalog wants them, and those that need none: what
// these hide, by name.
func profiles(cfg *config.Config, hidden map[string][]string) map[string]source.Profile {
	out := map[string]source.Profile{"": profile(cfg, "default", config.Profile{})}
	for name, p := range cfg.Profiles {
		q := profile(cfg, name, p)
		if name == "default" {
			name = ""
		}
		for t, v := range p.Views {
			q.Views[t] = tool.View(v)
		}
		q.Tools = append(append(q.Tools, p.Tools.Include...), actions(p.Actions.Include)...)
		q.Hide = append(append(q.Hide, p.Tools.Exclude...), actions(p.Actions.Exclude)...)
		out[name] = q
	}
	for _, name := range KnownProfiles(cfg) {
		if _, own := out[name]; !own && name != "default" {
			hide := hidden[name]
			q := out[""] // as the default one, with less of the SiYuan tools
			q.Hide = append(slices.Clone(q.Hide), hide...)
			out[name] = q
		}
	}
	return out
}

// KnownProfiles are the names of all profiles that there are with cfg, sorted.
func KnownProfiles(cfg *config.Config) []string {
	known := slices.AppendSeq([]string{"default"}, maps.Keys(cfg.Profiles))
	if cfg.SiYuan.Enabled {
		known = append(known, ProfileNames()...)
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// profile is how a profile shows Tools.
func profile(cfg *config.Config, name string, p config.Profile) source.Profile {
	c := cfg.ContextOf(name)
	q := source.Profile{Default: tool.View(c.View), Budget: int(c.Budget), Views: map[string]tool.View{}}
	if p.View != "" && p.View != string(tool.Auto) {
		q.View = tool.View(p.View)
	}
	return q
}

// ProfileNames are the profiles that need no settings but a SiYuan, sorted.
func ProfileNames() []string { return siyuan.ProfileNames() }

// actions turns "tool.action" into the catalog's "tool/action".
func actions(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.Replace(s, ".", "/", 1)
	}
	return out
}

// Tools is what a profile sees, those that are off included, for people. "NAME@flat", "NAME@grouped" and
// "NAME@search" are profile NAME with every Tool in that view.
func (a *App) Tools(profile string) []tool.Tool { return a.catalog.Tools(profile) }

// Rebalance has the views of servers chosen anew where that is automatic.
func (a *App) Rebalance() error { return a.catalog.Rebalance() }

// ListWait is how long the first lists of a client wait for servers that nobody has seen.
func (a *App) ListWait() time.Duration {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	return a.cfg.Cache.FirstListWait
}

// Close stops the servers, and kills what is left of them when ctx ends, and puts the
// audit on disk.
func (a *App) Close(ctx context.Context) error {
	if err := a.host.close(ctx); err != nil { // turns end before what they call
		a.log.Warn("conversations not closed", "error", err)
	}
	a.set.Close(ctx)
	a.catalog.Close()
	if a.brief { // its one call is over, so nothing comes that would have to be on record, and both write files
		var rest sync.WaitGroup
		defer rest.Wait()
		rest.Go(a.closeNotes)
		return a.closeStores()
	}
	a.closeNotes()
	return a.closeStores()
}

// closeNotes closes what calls of our own tools need, and what counts them.
func (a *App) closeNotes() {
	a.Notes.close()
	a.counting.close()
}

// closeStores closes what the servers need. What fails beside the audit is only logged.
func (a *App) closeStores() error {
	if err := a.pins.Close(); err != nil {
		a.log.Warn("pins not written", "error", err)
	}
	if err := a.cache.Close(); err != nil {
		a.log.Debug("tool cache not written", "error", err) // the cache has told it, once
	}
	if a.reaper != nil {
		if err := a.reaper.Close(); err != nil {
			a.log.Debug("reaper not ended", "error", err)
		}
	}
	if a.ledger != nil {
		if err := a.ledger.Close(); err != nil {
			a.log.Debug("ledger not written", "error", err)
		}
	}
	if a.Audit == nil { // of what only learns
		return nil
	}
	return a.Audit.Close()
}

// OpenLog returns the log file of a gateway, which is rotated, or why it cannot be written.
// Each Write is one line or several. Several processes may have it, and it needs no Close.
func OpenLog(l config.Log) (io.Writer, error) {
	f := &serverlog.File{Path: l.File, MaxSize: l.MaxSize, Files: l.Files}
	return f, f.Check()
}
