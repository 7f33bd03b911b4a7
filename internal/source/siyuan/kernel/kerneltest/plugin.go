package kerneltest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
)

// pluginRoute switches plugins on and off. The vault has none, since nobody opens a window on it.
const pluginRoute = "/api/petal/setPetalEnabled"

// Plugins returns the plugins that calls have switched, and how.
func (k *Kernel) Plugins() map[string]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.plugins)
}

// answerPlugin answers [pluginRoute] as the recorded kernel did: a plugin is a folder with a plugin.json.
func (k *Kernel) answerPlugin(answer *httptest.ResponseRecorder, r *http.Request) bool {
	if r.URL.Path != pluginRoute {
		return false
	}
	var asked struct {
		Name    *string `json:"packageName"`
		Enabled bool    `json:"enabled"`
	}
	raw, _ := io.ReadAll(r.Body) // it has been read once
	fail := func(msg string) bool {
		writeJSON(answer, http.StatusOK, map[string]any{"code": -1, "msg": msg, "data": nil})
		return true
	}
	if json.Unmarshal(raw, &asked) != nil || asked.Name == nil {
		return fail("Field [packageName] is required")
	}
	found := k.post("/api/file/getFile", map[string]any{"path": "/data/plugins/" + *asked.Name + "/plugin.json"})
	if found.Code != http.StatusOK {
		return fail(fmt.Sprintf("plugin [%s] not found", *asked.Name))
	}
	k.mu.Lock()
	k.plugins[*asked.Name] = asked.Enabled
	k.mu.Unlock()
	writeJSON(answer, http.StatusOK, map[string]any{"code": 0, "msg": "", "data": map[string]any{"name": *asked.Name, "enabled": asked.Enabled}})
	return true
}
