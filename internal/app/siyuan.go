package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collie/internal/config"
	"collie/internal/process"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/source/siyuan/connection"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/mascot"
	"collie/internal/source/siyuan/safety"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
	"collie/internal/vault"
)

// This file chooses the SiYuan kernel or the vault for the tools for notes, and creates and replaces their source.

// KernelFlags are the flags about the SiYuan kernel to use. An empty string means that a flag was not given.
type KernelFlags struct {
	URL, Token string // --url and --token
	Connection string // --connection
}

// siyuanSettings are the members of the section "siyuan", without the connections.
type siyuanSettings struct {
	// LocalFileRoots are folders whose files actions may read and write.
	LocalFileRoots []string `json:"localFileRoots"`
	// NewNotebookPermission is the level of notebooks that are created: r, rw or rwd;
	// by default r, in the vault rw.
	NewNotebookPermission string `json:"newNotebookPermission"`
	// WriteSafety is off, auto (default) or strict.
	WriteSafety string `json:"writeSafety"`
	// UndoKey encrypts the records of writes, because these hold texts of notes. It may be ${secret:NAME}.
	UndoKey string `json:"undoKey"`
	// MaxResultKB bounds a result in KiB; default 100.
	MaxResultKB int `json:"maxResultKB"`
	// ConfigTTL is how long the tool config may be cached, in seconds; default 30. A negative value reads it
	// for each call.
	ConfigTTL int `json:"configTTLSeconds"`
	Mascot    struct {
		// Sync also writes coins and events of the mascot to the workspace.
		Sync bool `json:"sync"`
	} `json:"mascot"`
}

// siyuanFields returns the names of the members of [siyuanSettings].
func siyuanFields() []string {
	var out []string
	t := reflect.TypeFor[siyuanSettings]()
	for field := range t.Fields() {
		out = append(out, field.Tag.Get("json"))
	}
	return out
}

// Notes manages the SiYuan source: which kernel it uses, and what people manage about it. It is safe for
// concurrent use.
type Notes struct {
	log  *slog.Logger
	env  config.Env
	opts Options
	app  *App

	mu     sync.Mutex
	source *siyuan.Source // nil if no notes are configured
	choice connection.Choice
	raw    string       // the settings that source was made from
	key    string       // the value of siyuan.undoKey that source was made with
	vault  *vault.Vault // the built-in notes; nil until they are used instead of a kernel
	purse  *mascot.Purse
	safety *safety.Coordinator // belongs to source; nil if source is nil
	client *kernel.Client      // belongs to source; nil if source is nil
	// warnings are sentences for people about how the kernel was chosen.
	warnings []string
	err      error // why there is no source although notes are configured
	enabled  bool  // siyuan.enabled

	ceilings atomic.Pointer[map[string]access.Ceiling] // by profile, with the catalog's names
}

// chooseKernel decides which kernel to use, without contacting it. Only getting the token may run a program.
func chooseKernel(ctx context.Context, cfg *config.Config, env config.Env, flags KernelFlags) (connection.Choice, []string, error) {
	in := kernelInputs(cfg, env)
	in.URL, in.Token, in.Connection = flags.URL, flags.Token, flags.Connection
	in.EnvURL, in.EnvToken = env.Get("SIYUAN_API_URL"), env.Get("SIYUAN_TOKEN")
	return connection.Resolve(ctx, in)
}

// SavedChoice returns the kernel of the saved connection called name, or of the current one if name is empty.
// It ignores the environment.
func SavedChoice(ctx context.Context, cfg *config.Config, env config.Env, name string) (notesadmin.KernelChoice, error) {
	in := kernelInputs(cfg, env)
	in.Connection = name
	choice, _, err := connection.Resolve(ctx, in)
	if err == nil && !choice.Configured {
		err = &tool.Error{
			Op: "use SiYuan", Kind: tool.Unavailable, Code: "not_configured", Message: "no SiYuan connection is saved",
			Hint: "collie siyuan init makes one",
		}
	}
	return choice, err
}

// kernelInputs collects the saved connections and the ways to resolve their tokens.
func kernelInputs(cfg *config.Config, env config.Env) connection.Inputs {
	saved, _ := Connections(cfg, env) // Resolve reports what is wrong with the connection in use
	secrets := secretadmin.NewLookup(cfg)
	return connection.Inputs{
		Saved: saved, Env: env.Lookup,
		Command: func(ctx context.Context, line string) (string, error) { return runForToken(ctx, env, line) },
		Expand: func(text string) (string, error) {
			value, err := entry.Expand(text, entry.Options{Dir: cfg.Paths.Config, Env: env.Lookup, Secret: secrets.Get, ReadFile: os.ReadFile})
			return value, secrets.Explain(err)
		},
	}
}

// Connections returns the saved connections of the settings or, if there are none, of older programs.
// problems says what is wrong with them.
func Connections(cfg *config.Config, env config.Env) (connection.Settings, []connection.Problem) {
	saved, problems := connection.Parse(cfg.SiYuan.Raw, siyuanFields()...)
	if len(saved.Connections) == 0 && len(problems) == 0 {
		if home := env.First("HOME", "USERPROFILE"); home != "" {
			return connection.ReadOlderPrograms(connection.FilesOfOlderPrograms(home), os.ReadFile)
		}
	}
	return saved, problems
}

// runForToken runs a command line that prints a token.
func runForToken(ctx context.Context, env config.Env, line string) (string, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return "", errors.New("cmd: names no program")
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := process.Output(ctx, process.Command{Label: "token", Name: words[0], Args: words[1:], Env: env.List()}, 64<<10, nil)
	return strings.TrimSpace(string(out)), err
}

// open creates the source that the settings ask for, if any.
func (n *Notes) open(ctx context.Context, cfg *config.Config) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ceilings := ceilings(cfg)
	n.ceilings.Store(&ceilings) // first, so that a new profile has its levels before any list shows it
	raw := fmt.Sprintf("%s\x00%t\x00%t\x00%s", cfg.SiYuan.Raw, cfg.SiYuan.Enabled, cfg.Vault.Enabled, cfg.Vault.File)
	var choice connection.Choice
	var warnings []string
	var err error
	var key string
	if cfg.SiYuan.Enabled { // resolved each time, since a secret may have changed although the settings are the same
		choice, warnings, err = chooseKernel(ctx, cfg, n.env, n.opts.Kernel)
		set, _ := readSiYuan(cfg) // make reports what is wrong
		var unread error
		if key, unread = undoKey(cfg, n.env, set.UndoKey); unread != nil && n.raw == raw {
			key = n.key // what runs goes on
		}
	}
	if n.raw == raw && n.choice == choice && n.key == key && n.err == nil && err == nil {
		return
	}
	old, client, purse := n.source, n.client, n.purse
	n.raw, n.key, n.enabled, n.choice, n.warnings, n.err = raw, key, cfg.SiYuan.Enabled, choice, warnings, err
	n.source, n.safety, n.client, n.purse = nil, nil, nil, nil
	for _, w := range warnings {
		n.log.Warn("SiYuan connection", "warning", w)
	}
	if n.err == nil && (choice.Configured || cfg.SiYuan.Enabled && cfg.Vault.Enabled) {
		n.err = n.make(cfg)
	}
	if n.err != nil {
		n.log.Warn("SiYuan tools not offered", "error", n.err)
	}
	if old != nil {
		old.Close()
		client.Close()
	}
	if n.vault != nil && (n.source == nil || n.choice.Configured) {
		n.closeVault()
	}
	if purse != nil && purse != n.purse {
		n.endPurse(purse)
	}
}

// endPurse closes a purse.
func (n *Notes) endPurse(purse *mascot.Purse) {
	if err := purse.Close(); err != nil {
		n.log.Warn("coins of the mascot not written", "error", err)
	}
}

// make creates the source for the chosen kernel. The caller holds n.mu.
func (n *Notes) make(cfg *config.Config) error {
	choice := n.choice
	set, err := readSiYuan(cfg)
	if err != nil {
		return err
	}
	at := n.place(cfg)
	dir := filepath.Join(cfg.Paths.State, "siyuan", workspaceKey(at.key))
	client := at.client
	key, err := n.undoKey(cfg, set.UndoKey)
	if err != nil {
		return err
	}
	verifier := kernel.NewVerifier(client, notesadmin.VerifyWorkspace(choice))
	coordinator := safety.Open(safety.Options{Dir: dir, Mode: safety.Mode(set.WriteSafety), Key: key, Logger: n.log})
	if n.purse, err = mascot.OpenPurse(filepath.Join(cfg.Paths.State, "siyuan"), n.app.Events, mascot.PurseOptions{
		Sync: set.Mascot.Sync, Kernel: client, Verifier: verifier, Started: &n.app.started, Logger: n.log,
	}); err != nil {
		return err
	}
	level := at.level
	if set.NewNotebookPermission != "" {
		if level, err = access.ParseLevel(set.NewNotebookPermission); err != nil {
			return err // readSiYuan has checked it
		}
	}
	if !choice.Token.IsZero() {
		n.app.hide([]string{choice.Token.Reveal()})
	}
	n.safety, n.client = coordinator, client
	n.source = siyuan.New(siyuan.Options{
		Kernel: client, Connection: connectionName(choice), Version: n.opts.Version, DefaultLevel: at.level, NewLevel: level,
		Ceiling:   n.ceiling,
		Verifier:  verifier,
		SwitchTTL: switchTTL(set.ConfigTTL, n.env), MaxResult: set.MaxResultKB << 10,
		Files: n.files(set.LocalFileRoots), Coins: n.purse, Safety: coordinator, Logger: n.log,
	})
	n.source.Start()
	return nil
}

// shortestKey is the minimum length of the key for the records of writes, in bytes.
const shortestKey = 16

// undoKey resolves the setting undoKey and hides the value from all records. If it cannot be resolved, the
// tools are not offered, so that nothing is stored unencrypted.
func (n *Notes) undoKey(cfg *config.Config, text string) (string, error) {
	key, err := undoKey(cfg, n.env, text)
	if key != "" {
		n.app.hide([]string{key})
	}
	return key, err
}

func undoKey(cfg *config.Config, env config.Env, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	key, err := kernelInputs(cfg, env).Expand(text)
	switch {
	case err != nil:
		return "", wrongSettingError("siyuan.undoKey", err.Error())
	case len(key) < shortestKey:
		return "", wrongSettingError("siyuan.undoKey", fmt.Sprintf("is shorter than %d bytes; collie secret set undo keeps a longer one, and ${secret:undo} stands for it", shortestKey))
	}
	return key, nil
}

// readSiYuan reads the members of the section "siyuan", without the connections.
func readSiYuan(cfg *config.Config) (siyuanSettings, error) {
	var set siyuanSettings
	if len(cfg.SiYuan.Raw) > 0 {
		if err := json.Unmarshal(cfg.SiYuan.Raw, &set); err != nil {
			return set, wrongSettingError("siyuan", err.Error())
		}
	}
	switch set.WriteSafety {
	case "":
		set.WriteSafety = string(safety.Auto)
	case string(safety.Off), string(safety.Auto), string(safety.Strict):
	default:
		return set, wrongSettingError("siyuan.writeSafety", fmt.Sprintf("is %q, expected off, auto or strict", set.WriteSafety))
	}
	// Tools make no notebook that they may not read.
	if level, err := access.ParseLevel(set.NewNotebookPermission); set.NewNotebookPermission != "" && (err != nil || level == access.None) {
		return set, wrongSettingError("siyuan.newNotebookPermission", fmt.Sprintf("is %q, expected r, rw or rwd", set.NewNotebookPermission))
	}
	return set, nil
}

// switchTTL returns how long the tool config may be cached: as the settings say, or else the environment
// variable of older programs, in which 0 means no caching.
func switchTTL(seconds int, env config.Env) time.Duration {
	if ms, err := strconv.Atoi(env.Get("SIYUAN_MCP_CONFIG_TTL_MS")); seconds == 0 && err == nil {
		if ms <= 0 {
			return -1
		}
		return time.Duration(ms) * time.Millisecond
	}
	return time.Duration(seconds) * time.Second
}

// wrongSettingError returns the error for an invalid member of the section.
func wrongSettingError(field, message string) error {
	return &tool.Error{
		Op: "read settings", Kind: tool.Invalid, Subject: field, Message: message, Hint: "collie config path says where the settings are",
		Fields: []tool.Field{{Path: "/" + strings.ReplaceAll(field, ".", "/"), Message: message}},
	}
}

// workspaceKey returns the name of the folder in our state that holds the files about a kernel. url is its address, or for
// the vault what vaultKey returns.
func workspaceKey(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:6])
}

func connectionName(c connection.Choice) string {
	if !c.Configured {
		return "vault"
	}
	if c.Name != "" {
		return c.Name
	}
	return string(c.From)
}

// files returns a function that says which local files a call may access: those in the folders of the
// settings and, for a person at a terminal, those below the working directory. Callers on other machines may
// access none.
func (n *Notes) files(roots []string) func(*tool.Call) action.LocalFiles {
	return func(c *tool.Call) action.LocalFiles {
		if c.Origin == tool.MCPRemote {
			return action.LocalFiles{Why: "files of this machine are not for callers on other machines"}
		}
		out := action.LocalFiles{MaxUpload: 200 << 20}
		for _, root := range append([]string{n.opts.WorkDir}, roots...) { // relative paths are resolved against the first root
			if root == "" || root == n.opts.WorkDir && c.Origin != tool.Direct {
				continue
			}
			if real, err := filepath.EvalSymlinks(expandHome(root, n.env)); err == nil {
				out.Roots = append(out.Roots, real)
			} else if !errors.Is(err, fs.ErrNotExist) {
				n.log.Warn("folder for local files not usable", "folder", root, "error", err)
			}
		}
		if out.Allowed, out.Why = len(out.Roots) > 0, "no folder is allowed: siyuan.localFileRoots in the settings is empty"; len(roots) > 0 {
			out.Why = "none of the folders of siyuan.localFileRoots in the settings can be used"
		}
		return out
	}
}

func expandHome(path string, env config.Env) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(env.Get("HOME"), rest)
	}
	return path
}

// close closes the source and the purse.
func (n *Notes) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source != nil {
		n.source.Close()
	}
	if n.purse != nil {
		if err := n.purse.Close(); err != nil {
			n.log.Warn("coins of the mascot not written", "error", err)
		}
	}
	if n.vault != nil {
		n.closeVault()
	}
}

// closeVault closes the vault once running requests are answered. The caller holds n.mu.
func (n *Notes) closeVault() {
	if err := n.vault.Close(); err != nil {
		n.log.Warn("the vault was not closed", "error", err)
	}
	n.vault = nil
}

// sources returns the source, if there is one.
func (n *Notes) sources() []tool.Source {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source == nil {
		return nil
	}
	return []tool.Source{n.source}
}

// ceiling returns the highest level that callers of a profile have in each notebook; none if there is no such
// profile.
func (n *Notes) ceiling(profile string) access.Ceiling {
	all := *n.ceilings.Load()
	base, _, ok := source.SplitProfile(profile, func(name string) bool { _, ok := all[name]; return ok })
	if !ok {
		return access.Ceiling{}
	}
	return all[base]
}

// ceilings returns the levels of all profiles of the settings. Built-in profiles have those of the default
// one.
func ceilings(cfg *config.Config) map[string]access.Ceiling {
	out := map[string]access.Ceiling{"": ceiling(cfg.Profiles["default"].Notebooks)}
	for _, name := range KnownProfiles(cfg) {
		if p, own := cfg.Profiles[name]; name != "default" && own {
			out[name] = ceiling(p.Notebooks)
		} else if name != "default" {
			out[name] = out[""]
		}
	}
	return out
}

// ceiling converts a profile's levels. An invalid level becomes none.
func ceiling(levels map[string]string) access.Ceiling {
	out := access.Ceiling{Listed: map[kernel.ID]access.Level{}, Others: access.Delete}
	for id, text := range levels {
		level, err := access.ParseLevel(text)
		if err != nil {
			level = access.None
		}
		if id == "*" {
			out.Others = level
		} else {
			out.Listed[kernel.ID(id)] = level
		}
	}
	return out
}

// profiles returns what the built-in profiles hide; nothing without a source.
func (n *Notes) profiles() map[string][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source == nil {
		return nil
	}
	return n.source.Profiles()
}
