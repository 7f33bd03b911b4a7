// Package gateway has the commands that run a gateway and take care of it: serve, stdio, open, service, doctor, backup and
// restore. It also implements what the API needs of this program, so that pages can do what commands do.
package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/clients"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/notes"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/face/httpserver"
	"collie/internal/face/httpserver/tokens"
	"collie/internal/face/mcpserver"
	"collie/internal/face/mcpserver/bridge"
	"collie/internal/face/mcpserver/toolbox"
	"collie/internal/face/pages"
	"collie/internal/face/pages/browsers"
	"collie/internal/face/web"
	auditadmin "collie/internal/pipeline/audit/admin"
	"collie/internal/process"
	"collie/internal/tool"
)

// commands holds the methods behind the commands of this package. They share one program.
type commands struct{ *root.Program }

// Routes returns the paths that serve answers, besides the health pages. A path that ends in "/" includes
// everything below it. Nothing else can be reached.
func Routes() []string { return []string{"/mcp", "/metrics", "/api/v1/", pages.Path} }

// serveFlags are the flags of `collie serve`, with values of environment variables for those that are not set.
type serveFlags struct {
	addr, cert, key, profile, log string
	noAuth                        bool
	token                         string // used instead of the token in the file
	origins                       []string
	parent                        int
}

// ServeCommand returns the command `collie serve`.
func ServeCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	var f serveFlags
	c := &cobra.Command{
		Use: "serve", Short: "Serve all your MCP servers at one URL", Args: cobra.NoArgs,
		Long: "Serves the gateway over HTTP until interrupted: MCP of both eras at /mcp, health at /healthz and\n" +
			"/readyz, metrics at /metrics if http.metrics is set. The first start creates a bearer token and\n" +
			"prints where it is. Changes to the settings take effect while it runs; \"collie service install\"\n" +
			"has the system keep it running.",
		RunE: func(c *cobra.Command, _ []string) error {
			err := p.serve(c.Context(), &f)
			if err == nil {
				p.Note("stopped")
			}
			return err
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.addr, "http", "", "listen on `ADDR` (default 127.0.0.1:7420)")
	flags.BoolVar(&f.noAuth, "no-auth", false, "ask for no token; on loopback addresses only")
	flags.StringVar(&f.cert, "tls-cert", "", "certificate `FILE` (PEM); it is read again when it changes")
	flags.StringVar(&f.key, "tls-key", "", "key `FILE` of the certificate (PEM)")
	flags.StringVar(&f.profile, "profile", "", "show the tools of view profile `NAME` where a URL has no ?profile=")
	flags.StringVar(&f.log, "log-file", "", "write the log to `FILE` instead of stderr; it is rotated")
	flags.IntVar(&f.parent, "parent-pid", 0, "stop when process `PID` exits")
	return c
}

// serving is one run of "collie serve" with the state that its steps share.
type serving struct {
	folders *syncing // keeps folders and notebooks equal
	commands
	flags     *serveFlags
	person    string // the user account of this process
	cfg       *config.Config
	log       *slog.Logger
	tokenFile string

	ports      ports
	file       home.Gateway // content of gateway.json
	app        *app.App
	processors fitting
	mute       atomic.Bool // answers through clients confirm nothing (http.elicitationConfirms is off)
	muted      muted
	browsers   *browsers.Book
	pages      *pages.Pages
	known      atomic.Pointer[[]string] // names of the profiles
}

// serve runs the gateway until ctx ends or the parent process is gone. The deferred calls close the parts in reverse order.
func (p commands) serve(ctx context.Context, f *serveFlags) error {
	s := &serving{commands: p, flags: f, person: root.Principal()}
	if err := s.readSettings(); err != nil {
		return err
	}
	release, err := home.Claim(s.cfg.Paths)
	if err != nil {
		return asCannotServe(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	endWithParent(ctx, f.parent, cancel)
	if err := s.openPages(); err != nil {
		return err
	}
	if err := s.listen(ctx); err != nil {
		return err
	}
	defer s.ports.close()
	if err := s.openApp(ctx); err != nil {
		return err
	}
	defer p.Stop(s.app)
	s.folders = &syncing{app: s.app, env: p.Env, log: s.log}
	s.folders.applySettings(s.cfg)
	defer s.folders.close()
	face := mcpserver.New(s.app.Pipeline, mcpserver.Options{Version: p.Version, ListWait: s.app.ListWait(), Stopping: s.ports.stopping, Logger: s.log})
	defer face.Close()
	mcp := face.Handler(s.identifyMCPClient, mcpserver.Bounds{MaxBody: s.cfg.HTTP.MaxBody, MaxSessions: s.cfg.MCP.Limits.MaxSessions, Kept: s.cfg.HTTP.ResumeBytes})
	defer mcp.Close()
	if err := s.publish(); err != nil {
		return asCannotServe(err)
	}
	w := newWatcher(s.app, s.log, s.applySettings)
	mux, closeRoutes := s.routes(mcp, w)
	defer closeRoutes()
	p.printWhere(ctx, s.app, s.ports.url(), s.ports.opts, s.tokenFile)
	defer p.limitProcessors(s.app, &s.processors)()
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { p.watch(ctx, s.cfg, w) })
	read := make(chan struct{})
	watching.Go(func() { s.followTokens(ctx, sync.OnceFunc(func() { close(read) }), mcp.EndOf) })
	<-read
	err = s.ports.serve(ctx, mux)
	cancel() // accept nothing new while shutting down
	return err
}

// readSettings reads settings, flags and variables, and opens the log.
func (s *serving) readSettings() (err error) {
	if s.cfg, err = s.Load(); err != nil {
		return err
	}
	if err := s.otherNames(s.cfg, s.flags); err != nil {
		return err
	}
	s.tokenFile = filepath.Join(s.cfg.Paths.State, "token")
	s.log, err = s.GatewayLogger(s.cfg, s.flags.log)
	return err
}

// endWithParent calls stop when the process pid is gone; 0 means none.
func endWithParent(ctx context.Context, pid int, stop func()) {
	if pid <= 0 {
		return
	}
	parentGone := process.WatchParent(ctx, pid, 0)
	go func() { // ends with ctx
		select {
		case <-parentGone:
			stop()
		case <-ctx.Done():
		}
	}()
}

// listen opens the listener. It answers no request before serve calls ports.serve.
func (s *serving) listen(ctx context.Context) (err error) {
	if err := s.fillGatewayFile(); err != nil {
		return err
	}
	opts, err := s.listenerOptions(s.cfg)
	if err != nil {
		return err
	}
	s.ports.log, s.ports.stopping = s.log, make(chan struct{})
	return asCannotServe(s.ports.open(ctx, &opts))
}

// fillGatewayFile fills in the content of gateway.json, except the address.
func (s *serving) fillGatewayFile() (err error) {
	s.file = home.Gateway{
		PID: os.Getpid(), Started: time.Now().UTC(), Version: s.Version, Digest: s.cfg.Digest(),
		Control: home.NewKey(), Bridge: home.NewKey(), Project: home.ProjectFile(s.cfg),
	}
	if s.file.Flags, err = s.flags.repeated(); err != nil {
		return err
	}
	o := s.Options()
	s.file.Settings, err = o.Named()
	return err
}

// repeated returns the flags that a restart of the gateway has to repeat, besides its address and its settings. Paths are absolute,
// since it may happen in another folder.
func (f *serveFlags) repeated() ([]string, error) {
	out := []string{}
	for _, file := range []struct{ flag, path string }{{"--tls-cert", f.cert}, {"--tls-key", f.key}} {
		if file.path == "" {
			continue
		}
		path, err := filepath.Abs(file.path)
		if err != nil {
			return nil, err
		}
		out = append(out, file.flag, path)
	}
	if f.profile != "" {
		out = append(out, "--profile", f.profile)
	}
	if f.noAuth {
		out = append(out, "--no-auth")
	}
	if f.parent > 0 {
		out = append(out, "--parent-pid", strconv.Itoa(f.parent))
	}
	return out, nil
}

// openApp opens the parts and starts the servers in the background.
func (s *serving) openApp(ctx context.Context) (err error) {
	s.mute.Store(!s.cfg.HTTP.ElicitationConfirms)
	s.muted.yes.Store(true)
	s.setProfiles(s.cfg)
	s.app, err = app.Open(ctx, s.cfg, app.Options{
		Version: s.Version, Self: root.Self(), ReaperArgs: []string{process.ReaperCommand}, Sweep: true,
		Computes: s.processors.computes, Env: s.Env, Logger: s.log,
	})
	return err
}

// identifyMCPClient identifies who makes a request over MCP.
func (s *serving) identifyMCPClient(r *http.Request) mcpserver.Client {
	k, _ := httpserver.KeyFrom(r.Context())
	profile := s.flags.profile
	if k.Token != nil && k.Token.Profile != "" {
		profile = k.Token.Profile // guard has refused requests whose token may not use this profile
	} else if q := r.URL.RawQuery; q != "" {
		if name := r.URL.Query().Get("profile"); name != "" {
			profile = name
		}
	}
	if k.Name == bridgeKey { // nobody else can read the key
		return mcpserver.Client{
			Principal: s.person, Origin: k.Origin, Profile: profile, NoHeaders: true, Stream: r.Header.Get(bridge.HeaderStream),
		}
	}
	return mcpserver.Client{Principal: k.Name, Origin: k.Origin, Profile: profile, Owner: k.Holder(), Mute: s.muted.of(&k, &s.mute)}
}

// identify identifies who makes a request to the API.
func (s *serving) identify(r *http.Request) web.Identity {
	k, _ := httpserver.KeyFrom(r.Context())
	identity := web.Identity{Principal: k.Name, Origin: k.Origin, Manage: k.Manage, Browser: k.Name == httpserver.BrowserKey}
	if k.Token != nil {
		identity.Profile = func(asked string) (string, error) { return s.profile(&k, asked) }
		if k.Token.Profile != "" {
			identity.Only = &k.Token.Profile
		}
	}
	if identity.Manage {
		identity.Principal = s.person // nobody else can read the control key, or sign a browser in
	}
	return identity
}

// publish writes gateway.json, in which other processes of this home find the gateway.
func (s *serving) publish() error {
	s.file.URL = s.ports.url()
	return home.Announce(s.cfg.Paths, s.file)
}

// applySettings applies changed settings to the faces.
func (s *serving) applySettings(now *config.Config) {
	s.mute.Store(!now.HTTP.ElicitationConfirms)
	s.setProfiles(now)
	s.pages.AllowFrames(now.Web.FrameOrigins)
	s.folders.applySettings(now)
	s.follow(now)
	s.file.Digest, s.file.Project = now.Digest(), home.ProjectFile(now) // commands compare theirs with these
	if err := s.publish(); err != nil {
		s.log.Warn("gateway.json not written", "error", err)
	}
}

// routes returns the handlers for all paths. The caller calls end.
func (s *serving) routes(mcp http.Handler, w *watcher) (mux *http.ServeMux, end func()) {
	a := s.app
	a.Endpoints = toolbox.Endpoints(toolbox.Options{Pipeline: a.Pipeline, Version: s.Version, Stdio: []string{root.Self(), "stdio"}, Logger: s.log})
	mux, end = http.NewServeMux(), func() {}
	mux.Handle("/mcp", s.guard(tokens.Tools, mcp))
	editor := a.Editor(root.SettingsFile, w.Reread, s.person)
	mux.Handle("/api/v1/", web.New(web.Options{
		Pipeline: a.Pipeline, Servers: a.Servers, Tools: a.Tools, Prompts: a.Prompts, Rebalance: a.Rebalance, Cache: a.ToolCache, CacheStats: func() any { return a.ToolCache.Stats() },
		Editor: editor, Switch: a.Switch(editor, w.Reread, s.person), Describe: a.Describe(editor),
		SettingsProblem: w.Wrong, Reread: w.Reread, Identify: s.identify, Admit: s.admit, Chat: a.Conversations, Streams: s.processors.streams,
		Kernels: kernelAPI{notes.Desk{Program: s.Program}, s, w.Reread}, Grants: a.Grants(), Agents: agentFiles{s}, Audit: auditAPI{auditadmin.Open(s.cfg), s}, Doctor: s.checks, Settings: settingsAPI{s, w.Reread}, Clients: clientAPI{clients.Desk{Program: s.Program}, s, w.Reread}, Record: s.Recorder(s.cfg),
		Notes:     func() (web.Notes, error) { return a.Notes.Admin() },
		Translate: func(language, text string) string { return locale.OfLocale(language).Sentence(text) },
		Providers: a.Providers(root.SettingsFile, w.Reread, s.person), Browsers: browserAPI{s}, Waiting: pendingAPI{s},
	}))
	mux.Handle(pages.Path, s.pages)
	if s.cfg.HTTP.Metrics {
		m := a.Metrics()
		mux.Handle("/metrics", s.guard("", m))
		end = m.Close
	}
	return mux, end
}

// listenerOptions returns the options of the listener.
func (s *serving) listenerOptions(cfg *config.Config) (httpserver.Options, error) {
	f := s.flags
	o := httpserver.Options{
		Addr: output.FirstNonEmpty(f.addr, cfg.HTTP.Addr), NoAuth: f.noAuth || cfg.HTTP.NoAuth,
		PublicURL: cfg.HTTP.PublicURL, TrustedProxies: cfg.HTTP.TrustedProxies,
		AllowedHosts: cfg.HTTP.AllowedHosts, AllowedOrigins: slices.Concat(cfg.HTTP.AllowedOrigins, f.origins),
		TLSCert: output.FirstNonEmpty(f.cert, cfg.HTTP.TLSCert), TLSKey: output.FirstNonEmpty(f.key, cfg.HTTP.TLSKey),
		MaxBody: cfg.HTTP.MaxBody, Routes: Routes(), Version: s.Version, Logger: s.log,
		Public: []string{pages.Path}, Framed: []string{pages.FramePath}, Browser: s.pages.SignedIn,
		Keys: []httpserver.Key{
			{Name: "control", Secret: s.file.Control, Origin: tool.Direct, Manage: true},
			{Name: bridgeKey, Secret: s.file.Bridge, Origin: tool.MCPLocal},
		},
	}
	// The listener answers no request before it serves, and by then the settings are read and the tool cache is loaded.
	o.Ready = func() (bool, any) {
		return true, map[string]string{"config": "read", "toolCache": "loaded"}
	}
	switch {
	case o.NoAuth:
	case f.token != "":
		o.Keys = append(o.Keys, httpserver.Key{Name: "token", Secret: f.token})
	default:
		token, created, err := httpserver.LoadOrCreateToken(s.tokenFile)
		if err != nil {
			return o, err
		}
		if created {
			s.Note("created a token: %s", s.tokenFile)
		}
		o.Keys = append(o.Keys, httpserver.Key{Name: "token", Secret: token})
	}
	return o, nil
}

// bridgeKey is the name of the key that "collie stdio" uses.
const bridgeKey = "bridge"

// cannotServe is the kind of error if the home or the address is already in use, for which no general kind
// fits.
const cannotServe tool.ErrorKind = "cannot_serve"

// asCannotServe gives an error about the home or the listener the kind cannotServe.
func asCannotServe(err error) error {
	//nolint:errorlint // app and httpserver return it as it is
	if e, ok := err.(*tool.Error); ok && (e.Kind == tool.Unavailable || e.Kind == tool.Busy) {
		failure := *e
		failure.Kind = cannotServe
		return &failure
	}
	return err
}

// printWhere prints where the gateway is and, once all servers have started or failed, the result.
func (p commands) printWhere(ctx context.Context, a *app.App, url string, o httpserver.Options, tokenFile string) {
	p.Note("listening on %s/mcp", url)
	list := a.Servers.List()
	notes := a.Notes.Count() > 0
	unknown := 0 // number of servers whose tools have to be learned first
	for i := range list {
		if list[i].Freshness == tool.FreshNone && !list[i].Unavailable() {
			unknown++
		}
	}
	switch {
	case notes && a.Notes.Vault() != "":
		p.Note("your notes are in the built-in vault, %s", a.Notes.Vault())
	case notes && len(list) == 0:
		p.Note("serving your SiYuan notes")
	case len(list) == 0:
		p.Note("no MCP server is configured; add one in a second terminal:\n  %s",
			p.Typed("mcp add everything")+" -- npx -y @modelcontextprotocol/server-everything")
	}
	p.Note("in a second terminal, to open the pages in a browser, to see what is served, and to connect a client:\n  %s\n  %s\n  %s",
		p.Typed("open"), p.Typed("tools"), p.Typed("connect claude-code"))
	if unknown > 0 {
		p.Note("starting %s to fetch the tools; a first start may download packages", locale.Count(unknown, "server"))
	}
	go func() { // ends with ctx
		select {
		case <-a.Servers.Started():
		case <-time.After(reportStartingAfter):
			p.printStillStarting(a)
			select {
			case <-a.Servers.Started():
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
		p.printReady(a, url, o, tokenFile)
		select {
		case <-time.After(freeMemoryAfter):
			debug.FreeOSMemory() // the start has used much memory, and little of it is still needed
		case <-ctx.Done():
		}
	}()
}

// freeMemoryAfter is how long after the ready line the memory of the start is given back, when clients have their first lists.
const freeMemoryAfter = time.Second

// reportStartingAfter is how long servers may take to start before a line says which ones are still starting.
const reportStartingAfter = 3 * time.Second

// printStillStarting prints which servers are still starting.
func (p commands) printStillStarting(a *app.App) {
	if p.JSON {
		return
	}
	tools := a.Notes.Count()
	var waiting []string
	for _, s := range a.Servers.List() {
		tools += s.Tools
		if s.State == tool.StateStarting {
			waiting = append(waiting, s.Name)
		}
	}
	if len(waiting) > 0 {
		p.Note("serving %s; still starting: %s", locale.Count(tools, "tool"), strings.Join(waiting, ", "))
	}
}

// printReady prints one line when every server is ready or has failed.
func (p commands) printReady(a *app.App, url string, o httpserver.Options, tokenFile string) {
	listed, tools, running := 0, 0, 0
	var failed []string
	list := a.Servers.List()
	for _, s := range list {
		if s.Freshness != tool.FreshNone {
			listed++
			tools += s.Tools
		}
		switch s.State {
		case tool.StateReady, tool.StateDegraded:
			running++
		case tool.StateFailed, tool.StateConfigError, tool.StateBackoff, tool.StateOpen, tool.StateNeedsAuth:
			failed = append(failed, s.Name+" ("+s.Reason+")")
		case tool.StateStarting:
			if s.Attempt > 0 {
				failed = append(failed, locale.Sprintf("%s (starting again)", s.Name))
			}
		case tool.StateDisabled, tool.StateIdle, tool.StateStopping, tool.StateStopped:
		}
	}
	if p.JSON {
		_ = json.NewEncoder(p.Err).Encode(map[string]any{
			"event": "settled", "url": url + "/mcp", "listed": listed, "running": running, "servers": len(list), "tools": tools,
			"notes": a.Notes.Count(), "failed": failed,
		})
		return
	}
	what := locale.Sprintf("%s of %s", locale.Count(tools, "tool"), locale.Count(listed, "server"))
	whose := locale.T(" of SiYuan")
	if a.Notes.Vault() != "" {
		whose = locale.T(" for the notes in your vault")
	}
	if n := a.Notes.Count(); n > 0 && len(list) == 0 {
		what = locale.Count(n, "tool") + whose
	} else if n > 0 {
		what = locale.Count(n, "tool") + whose + ", " + what
	}
	line := locale.Sprintf("ready: %s at %s/mcp", what, url)
	if idle := listed - running; idle > 0 {
		verb := "start"
		if idle == 1 {
			verb = "starts"
		}
		line += locale.Sprintf("; %s %s when used", locale.Count(idle, "server"), verb)
	}
	switch {
	case o.NoAuth:
	case p.Env.Get("SIYUAN_MCP_TOKEN") != "":
		line += locale.T(" (token in SIYUAN_MCP_TOKEN)")
	default:
		line += locale.Sprintf(" (token in %s)", tokenFile)
	}
	if len(failed) > 0 {
		line += locale.Sprintf("; failed: %s; collie mcp list says why", strings.Join(failed, ", "))
	}
	p.Note("%s", line)
}
