// Package app is the only place where the parts are joined: [Open] turns settings into an [App] that can be
// called and managed. Faces use an App and never see a source or a store.
package app

import (
	"context"
	"encoding/json"
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

	"collie/internal/agent"
	"collie/internal/app/feed"
	"collie/internal/atomicfile"
	"collie/internal/config"
	"collie/internal/event"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/firewall"
	firewalladmin "collie/internal/pipeline/firewall/admin"
	"collie/internal/pipeline/gate"
	"collie/internal/pipeline/gate/notify"
	"collie/internal/pipeline/guardian"
	"collie/internal/pipeline/limit"
	"collie/internal/process"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/guide"
	"collie/internal/source/upstream"
	serveradmin "collie/internal/source/upstream/admin"
	hostadmin "collie/internal/source/upstream/hosts/admin"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/serverlog"
	"collie/internal/source/upstream/toolcache"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// Options are the inputs of [Open] besides the settings.
type Options struct {
	Version string
	// Self is the path of this program and ReaperArgs its arguments as the reaper of our children. If Self is
	// empty, there is no reaper.
	Self       string
	ReaperArgs []string
	// Servers names the servers to start; nil starts all, an empty list none.
	Servers []string
	// Brief is for a command that a person waits for: its servers get less time to shut down, and nothing delays its end.
	Brief bool
	// Calls says that a call follows at once, so that the audit prepares for it in the background.
	Calls bool
	// Sweep ends processes that an earlier gateway of this home left behind.
	Sweep bool
	// Computes is called before something that may compute for long; nil is allowed.
	Computes func()
	// Kernel is what the command line says about the SiYuan kernel to use.
	Kernel KernelFlags
	// WorkDir is the folder whose files actions may access for a person at this terminal; empty for servers.
	WorkDir string
	Env     config.Env
	Logger  *slog.Logger // nil discards
}

// App joins all parts. It is safe for concurrent use. The caller calls Close.
type App struct {
	Pipeline *pipeline.Pipeline
	Servers  serveradmin.Servers
	// ToolCache holds what the servers offered last.
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
	version string

	// Endpoints opens the endpoint at which the agent of another program finds tools for a turn; nil offers none. It is
	// set before the agent host is first called.
	Endpoints func(context.Context, *agent.Toolbox) (agent.Endpoint, error)

	first      *config.Config // the settings it was opened with
	firstFiles []string       // WatchedFiles of first

	counting  counting
	hidden    redactors
	firewall  *firewall.Stage
	guardian  *guardian.Stage
	host      lazyHost
	started   event.Bus[*tool.Call]
	asked     event.Bus[gate.Asked]
	states    event.Bus[upstream.StateChange]
	brief     bool
	retention audit.Retention
	notices   *notify.Notifier // notifies a person who is elsewhere that a call waits for an answer; nil with Brief
	questions *event.Subscription[gate.Asked]
	following sync.WaitGroup

	reloading sync.Mutex
	cfg       *config.Config // the settings in effect; guarded by reloading
}

// instructions is our own part of the advice to models.
const instructions = "Collie joins several tool servers. A tool's name begins with its server's. " +
	"A tool with an \"action\" argument groups several actions; its description says how to ask for help."

// Open joins the parts as cfg says and starts the servers in the background. The caller closes the App.
func Open(ctx context.Context, cfg *config.Config, opts Options) (*App, error) {
	a := &App{log: opts.Logger, Events: &event.Bus[tool.CallDone]{}, env: opts.Env, version: opts.Version, cfg: cfg, brief: opts.Brief}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	a.hidden = newRedactors(nil)
	a.log = slog.New(a.hidden.logs.LogHandler(a.log.Handler()))
	cacheKey := a.openCacheInBackground(ctx, cfg, opts)
	specs, findings := serveradmin.Specs(cfg, opts.Env)
	a.first, a.firstFiles = cfg, envFiles(specs)
	hide := secrets(cfg, opts.Env, specs)
	a.hidden.logs.Hide(hide)
	a.hidden.chats.Hide(hide)
	for _, f := range findings {
		a.log.Warn("settings", "finding", f.String())
	}
	opts.Logger = a.log
	records := auditOptionsHiding(hide, cfg, opts)
	log, err := audit.Open(cfg.Audit.Dir, &records)
	if err != nil {
		cacheKey()
		return nil, errors.Join(err, a.closeStores())
	}
	a.Audit = log
	if opts.Calls {
		log.Prepare()
	}
	if err := a.openServers(ctx, cfg, opts, specs, cacheKey); err != nil {
		return nil, err
	}
	a.Notes = &Notes{log: a.log, env: opts.Env, opts: opts, app: a}
	a.Notes.open(ctx, cfg)
	a.catalog = source.New(a.sources(), source.Options{
		Profiles: profiles(cfg, a.Notes.profiles()), Reserved: reservedTools(cfg), Instructions: a.instructions(),
		Chosen: source.NewChosenFile(filepath.Join(cfg.Paths.State, "views.json"), !opts.Brief, a.log), Logger: a.log,
	})
	a.firewall = firewall.New(firewall.Options{Settings: firewalladmin.Settings(cfg), Files: firewalladmin.Files(opts.Env), Logger: a.log})
	a.guardian = guardian.New(guardian.Options{Open: a.reviewer, Logger: a.log})
	a.guardian.Use(guardianSettings(cfg))
	a.Pipeline = pipeline.New(a.catalog, pipeline.Options{
		Audit: log, OnFailure: audit.OnFailure(cfg.Audit.OnFailure), Started: &a.started, Bus: a.Events, Logger: a.log,
		Limits: limit.Options{
			PerSession: cfg.MCP.Limits.MaxInFlight, MaxCall: cfg.MCP.Limits.MaxCallTimeout, MaxArgs: int(cfg.HTTP.MaxBody),
		},
		Firewall: a.firewall, Guardian: a.guardian, Gate: gate.Options{
			Dir: pendingDir(cfg), Asked: &a.asked, Clients: a.firewall.Clients, Grants: a.grants,
		},
	})
	a.count(cfg, opts.Version, hide)
	a.set.Start(opts.Servers)
	if !opts.Brief {
		a.following.Go(func() { a.catalog.Prepare("") }) // in the background: most clients ask for this list first
		a.retention = audit.Retain(ctx, cfg.Audit.Dir, cfg.Audit.Keep, audit.PruneOptions{Alive: process.Alive, Log: records})
		a.notices, a.questions = newNotifier(cfg, opts, a.hide), a.asked.Subscribe(feed.MaxQueuedCalls)
		a.following.Go(func() { a.notices.Follow(a.questions) }) // ends with the subscription
	}
	return a, nil
}

// openServers creates the servers without starting any. cacheKey is the result of openCacheInBackground.
func (a *App) openServers(ctx context.Context, cfg *config.Config, opts Options, specs []upstream.Spec, cacheKey func() []byte) error {
	a.reapChildren(ctx, cfg, opts)
	key := cacheKey()
	tokens, err := secretadmin.Open(cfg, a.log)
	if err != nil {
		return errors.Join(err, a.closeStores())
	}
	o := serveradmin.Options(cfg, opts.Env)
	o.Info, o.Reaper, o.Ledger = serveradmin.Info(opts.Version), a.reaper, a.ledger
	o.Cache, o.Key, o.Pins, o.Tokens, o.Logger = a.cache, key, a.pins, tokens, a.log
	o.States = &a.states
	if opts.Brief {
		o.Ladder = serveradmin.Briefly
	}
	a.set = upstream.NewSet(specs, o)
	a.Servers = serveradmin.Servers{Set: a.set, Reread: a.reapply}
	a.ToolCache = cacheadmin.Cache{Cache: a.cache, Cleared: a.set.Cleared}
	return nil
}

// sources returns all sources; the first one that has a name wins it, and our own tools come first.
func (a *App) sources() []tool.Source { return append(a.Notes.sources(), a.set.Sources()...) }

// instructions returns our advice to models, and that of our own tools if they are offered.
func (a *App) instructions() string {
	if len(a.Notes.sources()) == 0 {
		return instructions
	}
	return instructions + "\n\n" + guide.Instructions
}

// reapChildren sets up the ledger and the reaper, which make sure that no child outlives us.
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

// profiles converts the profiles of the settings for the catalog, and adds the built-in ones. hidden says, by
// name of a built-in profile, what that one hides.
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
			q := out[""] // like the default profile, with fewer SiYuan tools
			q.Hide = append(slices.Clone(q.Hide), hide...)
			out[name] = q
		}
	}
	return out
}

// KnownProfiles returns the names of all profiles, built-in ones included, sorted.
func KnownProfiles(cfg *config.Config) []string {
	known := slices.AppendSeq([]string{"default"}, maps.Keys(cfg.Profiles))
	if cfg.SiYuan.Enabled {
		known = append(known, ProfileNames()...)
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// profile converts one profile of the settings for the catalog.
func profile(cfg *config.Config, name string, p config.Profile) source.Profile {
	c := cfg.ContextOf(name)
	q := source.Profile{Default: tool.View(c.View), Budget: int(c.Budget), Views: map[string]tool.View{}}
	if p.View != "" && p.View != string(tool.Auto) {
		q.View = tool.View(p.View)
	}
	return q
}

// ProfileNames returns the names of the built-in profiles, sorted. They need no settings, only notes.
func ProfileNames() []string { return siyuan.ProfileNames() }

// actions converts "tool.action" to the catalog's form "tool/action".
func actions(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.Replace(s, ".", "/", 1)
	}
	return out
}

// Tools returns the tools that a profile sees, for display to people; it includes those that are switched
// off. "NAME@flat", "NAME@grouped" and "NAME@search" mean profile NAME with every Tool in that view.
func (a *App) Tools(profile string) []tool.Tool { return a.catalog.Tools(profile) }

// Prompts returns the prompts that a profile shows, for display to people.
func (a *App) Prompts(profile string) []tool.SourcePrompt { return a.catalog.Prompts(profile) }

// Rebalance chooses the views of servers again, if that is automatic.
func (a *App) Rebalance() error { return a.catalog.Rebalance() }

// ListWait returns how long a client's first lists wait for servers whose tools are not known yet.
func (a *App) ListWait() time.Duration {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	return a.cfg.Cache.FirstListWait
}

// Close stops the servers, flushes the audit to disk and closes all stores. When ctx ends, servers that still
// run are killed.
func (a *App) Close(ctx context.Context) error {
	a.closeGuardian(ctx)
	if err := a.host.close(ctx); err != nil { // turns end before the tools that they call
		a.log.Warn("conversations not closed", "error", err)
	}
	a.retention.Close()
	if a.notices != nil {
		a.questions.Close()
		a.following.Wait()
		a.notices.Close()
	}
	a.set.Close(ctx)
	a.catalog.Close()
	if a.brief { // its only call is over, so no more records will come, and the two closes can write their files in parallel
		var rest sync.WaitGroup
		defer rest.Wait()
		rest.Go(a.closeNotes)
		return a.closeStores()
	}
	a.closeNotes()
	return a.closeStores()
}

// watchedLimit is how long closing waits for reviews of the guardian that run beside calls.
const watchedLimit = 3 * time.Second

// closeGuardian ends the reviews that run beside calls. It comes first, because they need the models of the host and the
// audit.
func (a *App) closeGuardian(ctx context.Context) {
	if a.guardian == nil { // a Learner has none
		return
	}
	ctx, cancel := context.WithTimeout(ctx, watchedLimit)
	defer cancel()
	a.guardian.Close(ctx)
}

// closeNotes closes our own tools and analytics.
func (a *App) closeNotes() {
	a.Notes.close()
	a.counting.close()
}

// closeStores closes what the servers need. Of the errors it returns that of the audit and only logs the
// others.
func (a *App) closeStores() error {
	if err := a.pins.Close(); err != nil {
		a.log.Warn("pins not written", "error", err)
	}
	if err := a.cache.Close(); err != nil {
		a.log.Debug("tool cache not written", "error", err) // the cache has already warned once
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
	if a.Audit == nil { // a Learner has no audit
		return nil
	}
	return a.Audit.Close()
}

// OpenLog opens the rotated log file of a gateway; the error says why it cannot be written. Each Write is one
// or several whole lines. Several processes may use the same file. It needs no Close.
func OpenLog(l config.Log) (io.Writer, error) {
	f := &serverlog.File{Path: l.File, MaxSize: l.MaxSize, Files: l.Files}
	return f, f.Check()
}

// NameForServer proposes a name for a server entry without one: that of the package that it runs; empty if that is
// unknown.
func NameForServer(entry json.RawMessage) string { return hostadmin.NameFor(entry) }
