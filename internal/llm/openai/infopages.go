package openai

import (
	"encoding/json"
	"slices"

	"collie/internal/llm/wire"
)

// This file reads pages on which local servers say more about their models than in the list of models; see [wire.InfoPage].

// readLMStudio reads LM Studio's own list of models (its REST API v0, https://lmstudio.ai/docs/app/api/endpoints/rest). Models
// that only embed are left out.
func readLMStudio(body []byte, list []wire.ListedModel) ([]wire.ListedModel, bool) {
	var answer struct {
		Data []struct {
			ID        string   `json:"id"`
			Type      string   `json:"type"` // llm, vlm or embeddings
			State     string   `json:"state"`
			Max       int      `json:"max_context_length"`
			Loaded    int      `json:"loaded_context_length"`
			Abilities []string `json:"capabilities"` // since 0.3.16
		} `json:"data"`
	}
	if json.Unmarshal(body, &answer) != nil || len(answer.Data) == 0 || answer.Data[0].Type == "" {
		return list, false
	}
	var out []wire.ListedModel
	for _, l := range list {
		for _, m := range answer.Data {
			if m.ID != l.ID {
				continue
			}
			if m.Max > 0 {
				l.Context = m.Max
			}
			if m.State == "loaded" && m.Loaded > 0 {
				l.Context, l.Loaded = m.Loaded, true
			}
			if m.Abilities != nil {
				l.Described, l.Tools, l.Images = true, slices.Contains(m.Abilities, "tool_use"), m.Type == "vlm"
			}
			if m.Type == "embeddings" {
				l.ID = ""
			}
			break
		}
		if l.ID != "" {
			out = append(out, l)
		}
	}
	return out, true
}

// readLlamaCpp reads the properties of llama.cpp's server, which are those of the one model that it runs.
func readLlamaCpp(body []byte, list []wire.ListedModel) ([]wire.ListedModel, bool) {
	var answer struct {
		Settings *struct {
			Context int `json:"n_ctx"` // of one conversation
		} `json:"default_generation_settings"`
		Modalities struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
		Template *struct {
			Tools bool `json:"supports_tools"`
		} `json:"chat_template_caps"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Settings == nil || len(list) != 1 {
		return list, false
	}
	l := list[0]
	if answer.Settings.Context > 0 {
		l.Context, l.Loaded = answer.Settings.Context, true
	}
	if answer.Template != nil {
		l.Described, l.Tools, l.Images = true, answer.Template.Tools, answer.Modalities.Vision
	}
	return []wire.ListedModel{l}, true
}
