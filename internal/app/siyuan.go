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

// KernelFlags are what a command line says of the SiYuan kernel to use. Empty texts say nothing.
type KernelFlags struct {
	URL, Token string // --url and --token
	Connection string // --connection
}

// siyuanSettings are the members of the section "siyuan" that are not connections.
type siyuanSettings struct {
	// LocalFileRoots are folders whose files actions may read and write.
	LocalFileRoots []string `json:"localFileRoots"`
	// NewNotebookPermission is the level of notebooks that are created: r, rw or rwd;
	// by default r, in the vault rw.
	NewNotebookPermission string `json:"newNotebookPermission"`
	// WriteSafety is off, auto (default) or strict.
	WriteSafety string `json:"writeSafety"`
	// UndoKey encrypts the records of writes, which hold texts of notes; it may be ${secret:NAME}.
	UndoKey string `json:"undoKey"`
	// MaxResultKB bounds a result; default 100.
	MaxResultKB int `json:"maxResultKB"`
	// ConfigTTL is how long the tool config is good, in seconds; default 30, negative reads it
	// each time.
	ConfigTTL int `json:"configTTLSeconds"`
	Mascot    struct {
		// Sync writes coins and events of the mascot to the workspace too.
		Sync bool `json:"sync"`
	} `json:"mascot"`
}

// siyuanFields are the names of the members of [siyuanSettings].
func siyuanFields() []string {
	var out []string
	t := reflect.TypeFor[siyuanSettings]()
	for field := range t.Fields() {
		out = append(out, field.Tag.Get("json"))
	}
	return out
}

// Notes is the handle on the SiYuan source: which kernel it talks to, and the parts of it that
// people manage. It is safe for concurrent use.
type Notes struct {
	log  *slog.Logger
	env  config.Env
	opts Options
	app  *App

	mu     sync.Mutex
	source *siyuan.Source // nil where nothing is configured
	choice connection.Choice
	raw    string       // the settings that source was made of
	vault  *vault.Vault // the built-in notes, nil until they were used instead of a kernel
	purse  *mascot.Purse
	safety *safety.Coordinator // of source; nil as it
	client *kernel.Client      // the same
	// warnings are what people should know about how the kernel was chosen.
	warnings []string
	err      error // why there is no source though something is configured
	enabled  bool  // siyuan.enabled

	ceilings atomic.Pointer[map[string]access.Ceiling] // by profile, as the catalog names them
}

// chooseKernel says which kernel would be talked to. It asks nobody but for the token, which may
// be a program's to say.
func chooseKernel(ctx context.Context, cfg *config.Config, env config.Env, flags KernelFlags) (connection.Choice, []string, error) {
	in := kernelInputs(cfg, env)
	in.URL, in.Token, in.Connection = flags.URL, flags.Token, flags.Connection
	in.EnvURL, in.EnvToken = env.Get("SIYUAN_API_URL"), env.Get("SIYUAN_TOKEN")
	return connection.Resolve(ctx, in)
}

// SavedChoice is the kernel of the saved connection called name, else of the current one,
// whatever the environment says.
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

// kernelInputs are the saved connections and what their tokens may stand for.
func kernelInputs(cfg *config.Config, env config.Env) connection.Inputs {
	saved, _ := Connections(cfg, env) // what is wrong with the one in use, Resolve says
	secrets := secretadmin.NewLookup(cfg)
	return connection.Inputs{
		Saved: saved, Env: env.Lookup,
		Command: func(ctx context.Context, line string) (string, error) { return runForToken(ctx, env, line) },
		Expand: func(text string) (string, error) {
			return entry.Expand(text, entry.Options{Dir: cfg.Paths.Config, Env: env.Lookup, Secret: secrets.Get, ReadFile: os.ReadFile})
		},
	}
}

// Connections are the saved connections: those of the settings, else those of older programs.
// problems name what is wrong with them.
func Connections(cfg *config.Config, env config.Env) (connection.Settings, []connection.Problem) {
	saved, problems := connection.Parse(cfg.SiYuan.Raw, siyuanFields()...)
	if len(saved.Connections) == 0 && len(problems) == 0 {
		if home := env.Get("HOME"); home != "" {
			return connection.Old(connection.OldFiles(home), os.ReadFile)
		}
	}
	return saved, problems
}

// runForToken runs a line that prints a token.
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

// open makes the source that the settings ask for, or none.
func (n *Notes) open(ctx context.Context, cfg *config.Config) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ceilings := ceilings(cfg)
	n.ceilings.Store(&ceilings) // before a list shows a profile that is new
	raw := fmt.Sprintf("%s\x00%t\x00%t\x00%s", cfg.SiYuan.Raw, cfg.SiYuan.Enabled, cfg.Vault.Enabled, cfg.Vault.File)
	var choice connection.Choice
	var warnings []string
	var err error
	if cfg.SiYuan.Enabled { // each time: a secret may be another one though the settings are the same
		choice, warnings, err = chooseKernel(ctx, cfg, n.env, n.opts.Kernel)
	}
	if n.raw == raw && n.choice == choice && n.err == nil && err == nil {
		return
	}
	old, client, purse := n.source, n.client, n.purse
	n.raw, n.enabled, n.choice, n.warnings, n.err = raw, cfg.SiYuan.Enabled, choice, warnings, err
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

// endPurse ends a purse.
func (n *Notes) endPurse(purse *mascot.Purse) {
	if err := purse.Close(); err != nil {
		n.log.Warn("coins of the mascot not written", "error", err)
	}
}

// make opens the source of the kernel that was chosen. The caller holds n.mu.
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
	coordinator := safety.Open(safety.Options{Dir: dir, Mode: safety.Mode(set.WriteSafety), Key: key, Logger: n.log})
	if n.purse, err = mascot.OpenPurse(filepath.Join(cfg.Paths.State, "siyuan"), n.app.Events, mascot.PurseOptions{
		Sync: set.Mascot.Sync, Kernel: client, Logger: n.log,
	}); err != nil {
		return err
	}
	level := at.level
	if set.NewNotebookPermission != "" {
		if level, err = access.ParseLevel(set.NewNotebookPermission); err != nil {
			return wrongSetting("siyuan.newNotebookPermission", err.Error())
		}
	}
	if !choice.Token.IsZero() {
		n.app.hide([]string{choice.Token.Reveal()})
	}
	n.safety, n.client = coordinator, client
	n.source = siyuan.New(siyuan.Options{
		Kernel: client, Connection: connectionName(choice), Version: n.opts.Version, DefaultLevel: at.level, NewLevel: level,
		Ceiling:   n.ceiling,
		Verify:    notesadmin.VerifyWorkspace(choice),
		SwitchTTL: switchTTL(set.ConfigTTL, n.env), MaxResult: set.MaxResultKB << 10,
		Files: n.files(set.LocalFileRoots), Coins: n.purse, Safety: coordinator, Logger: n.log,
	})
	n.source.Start()
	return nil
}

// shortestKey is how long a key for the records of writes has to be, in bytes.
const shortestKey = 16

// undoKey is the key that a setting stands for, and is hidden from every record. Where it cannot be had nothing is
// written in clear instead: the tools are not offered.
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
		return "", wrongSetting("siyuan.undoKey", err.Error())
	case len(key) < shortestKey:
		return "", wrongSetting("siyuan.undoKey", fmt.Sprintf("is shorter than %d bytes; collie secret set undo keeps a longer one, and ${secret:undo} stands for it", shortestKey))
	}
	return key, nil
}

// readSiYuan reads the members of the section that are not connections.
func readSiYuan(cfg *config.Config) (siyuanSettings, error) {
	var set siyuanSettings
	if len(cfg.SiYuan.Raw) > 0 {
		if err := json.Unmarshal(cfg.SiYuan.Raw, &set); err != nil {
			return set, wrongSetting("siyuan", err.Error())
		}
	}
	switch set.WriteSafety {
	case "":
		set.WriteSafety = string(safety.Auto)
	case string(safety.Off), string(safety.Auto), string(safety.Strict):
	default:
		return set, wrongSetting("siyuan.writeSafety", fmt.Sprintf("is %q, expected off, auto or strict", set.WriteSafety))
	}
	return set, nil
}

// switchTTL is how long the tool config is good: what the settings say, else the environment of
// older programs, where 0 reads it each time.
func switchTTL(seconds int, env config.Env) time.Duration {
	if ms, err := strconv.Atoi(env.Get("SIYUAN_MCP_CONFIG_TTL_MS")); seconds == 0 && err == nil {
		if ms <= 0 {
			return -1
		}
		return time.Duration(ms) * time.Millisecond
	}
	return time.Duration(seconds) * time.Second
}

// wrongSetting is the error for a member of the section that cannot be used.
func wrongSetting(field, message string) error {
	return &tool.Error{
		Op: "read settings", Kind: tool.Invalid, Subject: field, Message: message, Hint: "collie config path says where the settings are",
		Fields: []tool.Field{{Path: "/" + strings.ReplaceAll(field, ".", "/"), Message: message}},
	}
}

// workspaceKey names the folder of a kernel's files in our state.
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

// files says which files of this machine a call may touch: those in the folders of the settings,
// and for a person at a terminal those below where they are. Callers on other machines touch
// none.
func (n *Notes) files(roots []string) func(*tool.Call) action.LocalFiles {
	return func(c *tool.Call) action.LocalFiles {
		if c.Origin == tool.MCPRemote {
			return action.LocalFiles{Why: "files of this machine are not for callers on other machines"}
		}
		out := action.LocalFiles{MaxUpload: 200 << 20}
		for _, root := range append([]string{n.opts.WorkDir}, roots...) { // relative paths are below the first
			if root == "" || root == n.opts.WorkDir && c.Origin != tool.Direct {
				continue
			}
			if real, err := filepath.EvalSymlinks(expandHome(root, n.env)); err == nil {
				out.Roots = append(out.Roots, real)
			} else if !errors.Is(err, fs.ErrNotExist) {
				n.log.Warn("folder for local files not usable", "folder", root, "error", err)
			}
		}
		if out.Allowed = len(out.Roots) > 0; !out.Allowed {
			out.Why = "no folder is allowed: siyuan.localFileRoots in the settings is empty"
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

// close ends the source and the purse.
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

// closeVault ends the use of the vault, once requests that run are answered. The caller holds n.mu.
func (n *Notes) closeVault() {
	if err := n.vault.Close(); err != nil {
		n.log.Warn("the vault was not closed", "error", err)
	}
	n.vault = nil
}

// sources are the source, if there is one.
func (n *Notes) sources() []tool.Source {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source == nil {
		return nil
	}
	return []tool.Source{n.source}
}

// ceiling is what the callers of a profile are allowed at most in each notebook: nothing where there is no such profile.
func (n *Notes) ceiling(profile string) access.Ceiling {
	all := *n.ceilings.Load()
	base, _, ok := source.SplitProfile(profile, func(name string) bool { _, ok := all[name]; return ok })
	if !ok {
		return access.Ceiling{}
	}
	return all[base]
}

// ceilings are the levels of the settings' profiles, and of those that need no settings, which have the levels of the default one.
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

// ceiling is a profile's levels. What is not a level is none.
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

// profiles are what the views hide that need no settings, none without a source.
func (n *Notes) profiles() map[string][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source == nil {
		return nil
	}
	return n.source.Profiles()
}
