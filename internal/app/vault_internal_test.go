package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/config"
	"collie/internal/tool"
)

// settingsWithVault returns settings under which notes come from a vault whose file does not exist yet.
func settingsWithVault(t *testing.T) *config.Config {
	t.Helper()
	return &config.Config{
		SiYuan: config.SiYuan{Enabled: true},
		Vault:  config.Vault{Enabled: true, File: filepath.Join(t.TempDir(), "data", "vault.db")},
	}
}

// Looking for a file, as happens when tools are listed, does not create the vault. Any other request does.
func TestVaultIsMadeByUse(t *testing.T) {
	t.Parallel()
	cfg := settingsWithVault(t)
	v := newVault(cfg, config.EnvOf("LANG=zh_CN.UTF-8"), nil)
	defer v.Close()
	k := vaultClient(v, nil)
	defer k.Close()
	if _, err := k.ReadFile(t.Context(), "/data/storage/petal/collie/mcpToolsConfig"); tool.KindOf(err) != tool.NotFound {
		t.Errorf("a file of no vault: %v", err)
	}
	if _, err := os.Stat(cfg.Vault.File); !os.IsNotExist(err) {
		t.Fatalf("the vault was made by looking: %v", err)
	}
	all, err := k.Notebooks(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "欢迎" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := k.ReadFile(t.Context(), "/data/storage/petal/collie/mcpToolsConfig"); tool.KindOf(err) != tool.NotFound {
		t.Errorf("a file that the vault does not have: %v", err)
	}
}

// The notes that a new vault begins with are in the language of the environment.
func TestLanguageOfWelcome(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"": "en", "LANG=en_US.UTF-8": "en", "LANG=zh_CN.UTF-8": "zh", "LANG=ZH_TW": "zh", "LANG=zh_CN LC_ALL=C": "en", "LANG=C LC_MESSAGES=zh_HK.UTF-8": "zh",
	} {
		if got := language(config.EnvOf(strings.Fields(env)...)); got != want {
			t.Errorf("%q is %s, want %s", env, got, want)
		}
	}
}

// Where the vault does not serve, there is a reason that can be shown.
func TestInsteadOfVault(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*config.Config)
		env    string
		flags  KernelFlags
		serves bool
	}{
		"nothing":  {serves: true},
		"off":      {change: func(c *config.Config) { c.SiYuan.Enabled = false }},
		"no vault": {change: func(c *config.Config) { c.Vault.Enabled = false }},
		"saved":    {change: func(c *config.Config) { c.SiYuan.Raw = []byte(`{"connections":{"a":{"url":"http://k"}}}`) }},
		"a server": {change: func(c *config.Config) { c.Servers = []config.ServerEntry{{Name: "tag"}} }, serves: true},
		"env":      {env: "SIYUAN_API_URL=http://k"},
		"url":      {flags: KernelFlags{URL: "http://k"}},
		"name":     {flags: KernelFlags{Connection: "a"}},
	} {
		cfg := settingsWithVault(t)
		if tt.change != nil {
			tt.change(cfg)
		}
		env := config.EnvOf(tt.env)
		if got := InsteadOfVault(cfg, env, tt.flags); (got == "") != tt.serves {
			t.Errorf("%s: %q", name, got)
		}
		kernelNamed := kernelNamed(cfg, env, tt.flags)
		if got := NotesOffered(cfg, env, tt.flags); got != (tt.serves || kernelNamed) {
			t.Errorf("%s: offered %t", name, got)
		}
	}
}
