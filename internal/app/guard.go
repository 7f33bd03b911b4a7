package app

import (
	"context"

	"collie/internal/config"
	"collie/internal/pipeline/guardian"
	"collie/internal/pipeline/promptguard"
	"collie/internal/tool"
)

// This file joins the guardian, which has a second model review calls and texts, to the settings.

// guardianSettings returns the settings of the guardian. As with the firewall, guard.clients says whether its verdicts
// count for MCP clients.
func guardianSettings(cfg *config.Config) guardian.Settings {
	g := &cfg.Guard
	return guardian.Settings{
		Mode: guardian.Mode(g.Guardian), Model: g.GuardianModel, Threshold: tool.Risk(g.GuardianThreshold), Clients: g.Clients == "enforce", Reader: g.PromptsModel,
	}
}

// readText asks the second model for texts about a text in which rules found something. Without such a model, or with an
// answer that is neither clean nor malicious, the text is suspicious.
func (a *App) readText(ctx context.Context, text string, found []string) (promptguard.Verdict, error) {
	if !a.guardian.Reads() {
		return promptguard.Suspicious, nil
	}
	said, err := a.guardian.Read(ctx, text, found)
	for _, v := range []promptguard.Verdict{promptguard.Clean, promptguard.Malicious} {
		if err == nil && said == v.String() {
			return v, nil
		}
	}
	return promptguard.Suspicious, err
}
