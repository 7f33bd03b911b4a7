package app

import (
	"context"

	"collie/internal/config"
	"collie/internal/pipeline/guardian"
	"collie/internal/pipeline/promptguard"
	"collie/internal/tool"
)

// guardianSettings returns the settings of the guardian, which counts for MCP clients where the firewall does.
func guardianSettings(cfg *config.Config) guardian.Settings {
	g := &cfg.Guard
	return guardian.Settings{
		Mode: guardian.Mode(g.Guardian), Model: g.GuardianModel, Threshold: tool.Risk(g.GuardianThreshold), Clients: g.Clients == "enforce", Reader: g.PromptsModel,
	}
}

// readText has the second model for texts judge one in which rules found something.
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
