package app

import (
	"log/slog"
	"strings"

	"collie/internal/config"
	"collie/internal/vault"
)

// newVault is the vault of the settings. Its file is opened by the first use, and made then with a
// notebook of welcome in it, in the language of env, if it is not there. The caller closes it.
func newVault(cfg *config.Config, env config.Env, log *slog.Logger) *vault.Vault {
	return vault.New(cfg.Vault.File, vault.Options{Log: log, Fill: vault.Welcome(language(env))})
}

// language is zh for a Chinese locale, else en.
func language(env config.Env) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := env.Get(name); value != "" {
			if strings.HasPrefix(strings.ToLower(value), "zh") {
				return "zh"
			}
			return "en"
		}
	}
	return "en"
}
