// Package registrytest is an MCP registry for tests: an HTTP server on this machine that answers as the API documentation of the
// official registry, v0.1, says.
package registrytest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Weather is a server with a package of npm that asks for a secret and a choice, an image, and a URL with a header.
const Weather = `{
	"server": {
		"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name": "io.github.example/mcp-server-weather", "title": "天气", "description": "Weather of today and tomorrow", "version": "1.2.3",
		"repository": {"url": "https://github.com/example/weather", "source": "github"},
		"packages": [
			{
				"registryType": "npm", "registryBaseUrl": "https://registry.npmjs.org", "identifier": "@example/weather", "version": "1.2.3",
				"runtimeHint": "npx", "transport": {"type": "stdio"},
				"packageArguments": [
					{"type": "named", "name": "--units", "description": "Units", "choices": ["metric", "imperial"], "default": "metric"},
					{"type": "positional", "value": "serve"}
				],
				"environmentVariables": [
					{"name": "WEATHER_API_KEY", "description": "Your key", "isRequired": true, "isSecret": true},
					{"name": "WEATHER_CACHE", "description": "A folder to keep answers in", "format": "filepath"}
				]
			},
			{
				"registryType": "oci", "identifier": "ghcr.io/example/weather:1.2.3", "transport": {"type": "stdio"},
				"environmentVariables": [{"name": "WEATHER_API_KEY", "isRequired": true, "isSecret": true}]
			}
		],
		"remotes": [
			{
				"type": "streamable-http", "url": "https://{region}.weather.example.com/mcp",
				"variables": {"region": {"description": "Region", "choices": ["eu", "us"], "default": "eu"}},
				"headers": [{"name": "Authorization", "value": "Bearer {key}", "variables": {"key": {"description": "Your key", "isRequired": true, "isSecret": true}}}]
			}
		]
	},
	"_meta": {"io.modelcontextprotocol.registry/official": {"status": "active", "publishedAt": "2026-01-02T03:04:05Z", "isLatest": true}}
}`

// entry is one version of a server in the registry.
type entry struct {
	raw           json.RawMessage
	name, version string
}

// Serve starts a registry of servers, each a whole answer such as [Weather], the versions of a server from old to new, and returns
// its address. It ends with the test.
func Serve(tb testing.TB, servers ...string) string {
	tb.Helper()
	var all []entry
	for _, text := range servers {
		var one struct {
			Server struct{ Name, Version string } `json:"server"`
		}
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			tb.Fatalf("registrytest: %v in %s", err, text)
		}
		all = append(all, entry{json.RawMessage(text), one.Server.Name, one.Server.Version})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v0.1/servers", func(w http.ResponseWriter, r *http.Request) { answerList(w, r, all) })
	mux.HandleFunc("GET /v0.1/servers/{name}/versions/{version}", func(w http.ResponseWriter, r *http.Request) {
		name, version := r.PathValue("name"), r.PathValue("version")
		for _, e := range slices.Backward(all) {
			if e.name == name && (version == "latest" || e.version == version) {
				writeAnswer(w, http.StatusOK, e.raw)
				return
			}
		}
		writeAnswer(w, http.StatusNotFound, map[string]any{"title": "Not Found", "status": http.StatusNotFound, "detail": "Server not found"})
	})
	s := httptest.NewServer(mux)
	tb.Cleanup(s.Close)
	return s.URL
}

// answerList answers a page of the latest versions; a cursor is the number of servers before it.
func answerList(w http.ResponseWriter, r *http.Request, all []entry) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 || limit > 100 {
		writeAnswer(w, http.StatusUnprocessableEntity, map[string]any{"title": "Unprocessable Entity", "status": http.StatusUnprocessableEntity})
		return
	}
	from, _ := strconv.Atoi(q.Get("cursor"))
	var found []json.RawMessage
	for i, e := range all {
		newer := slices.ContainsFunc(all[i+1:], func(later entry) bool { return later.name == e.name })
		if strings.Contains(e.name, q.Get("search")) && (q.Get("version") != "latest" || !newer) {
			found = append(found, e.raw)
		}
	}
	page := found[min(from, len(found)):min(from+limit, len(found))]
	meta := map[string]any{"count": len(page)}
	if from+limit < len(found) {
		meta["nextCursor"] = strconv.Itoa(from + limit)
	}
	writeAnswer(w, http.StatusOK, map[string]any{"servers": append([]json.RawMessage{}, page...), "metadata": meta})
}

func writeAnswer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
