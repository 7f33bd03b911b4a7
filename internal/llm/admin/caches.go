package admin

import (
	"context"
	"strings"

	"collie/internal/llm/client"
	"collie/internal/tool"
)

// CacheStats are figures about a cache.
type CacheStats = client.CacheStats

// CacheNames returns the names of the caches.
func CacheNames() []string { return []string{client.CacheModels, client.CacheTransformers} }

// Caches returns figures about the caches of models in memory.
func (m *Manager) Caches(ctx context.Context) ([]CacheStats, error) {
	models, _, err := m.opts.Models(ctx)
	if err != nil {
		return nil, err
	}
	return models.Caches(), nil
}

// ClearCache empties one of these caches and returns how many entries it had. An unknown name is an error of kind
// NotFound.
func (m *Manager) ClearCache(ctx context.Context, name string) (int, error) {
	models, _, err := m.opts.Models(ctx)
	if err != nil {
		return 0, err
	}
	n, known := models.ClearCache(name)
	if !known {
		return 0, &tool.Error{
			Op: "clear cache", Kind: tool.NotFound, Subject: name, Message: "there is no cache of that name",
			Hint: "the caches are " + strings.Join(CacheNames(), ", "),
		}
	}
	return n, nil
}
