package app

import (
	"encoding/json"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
)

// Cleaner strikes secrets out of JSON that people are shown: those of the settings, those in more,
// and whatever looks like one.
func Cleaner(cfg *config.Config, env config.Env, more ...string) func(raw json.RawMessage) json.RawMessage {
	specs, _ := Specs(cfg, env)
	redact := audit.NewRedactor(append(secrets(specs), more...), audit.ContentFull)
	return func(raw json.RawMessage) json.RawMessage { return redacted(redact, raw) }
}
