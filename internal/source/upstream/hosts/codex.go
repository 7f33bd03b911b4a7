package hosts

import (
	"maps"
	"slices"
	"strings"
)

// This file has the settings of Codex.

// codex describes Codex, which uses TOML without variables in texts: a separate field names the environment variable that
// holds a value. Timeouts are in seconds.
var codex = Host{
	Name: "codex", Title: "Codex", Program: "codex", Key: "mcp_servers",
	After:  "Start Codex again; /mcp lists its servers.",
	format: tomlText,
	file:   codexFile,
	places: func(s System) []Place {
		return []Place{userPlace(codexFile(s)), s.project(".codex", "config.toml")}
	},
	hints:     []string{"/.codex/", "/config.toml"},
	isOwnFile: func(d *document) bool { return d.has("mcp_servers") },

	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"cwd", "cwd", folder},
		{"url", "url", text},
		{"http_headers", "headers", dict},
		{"scopes", "auth.scopes", names},
		{"enabled", "disabled", negated},
		{"startup_timeout_sec", "startTimeout", seconds},
		{"tool_timeout_sec", "toolTimeout", seconds},
		{"enabled_tools", "tools.include", names},
		{"disabled_tools", "tools.exclude", names},
	},
	read:  readCodex,
	write: writeCodex,
	refusalReason: func(e Entry) string {
		if e.Transport() == "sse" {
			return "it does not speak HTTP with SSE; give it the gateway instead"
		}
		return ""
	},
}

func codexFile(s System) string {
	if dir := s.env("CODEX_HOME"); dir != "" {
		return pathBelow(dir, []string{"config.toml"})
	}
	return s.home(".codex", "config.toml")
}

// readCodex reads the fields that name environment variables, and merges both fields for headers into one.
func readCodex(r *hostReading) {
	r.field("startup_timeout_ms", field{"startup_timeout_ms", "startTimeout", milliseconds})
	if name, ok := r.string("bearer_token_env_var"); ok {
		r.set("auth.type", "bearer")
		r.set("auth.token", "${"+name+"}")
	}
	r.field("env_vars", field{"", "inheritEnv", names}) // added to a small default set, as here
	r.ignoreFields("http_headers", "env_http_headers")
	headers, _ := readDict(r, r.get("http_headers"))
	all, _ := headers.(map[string]*string)
	for _, m := range membersOf(r.get("env_http_headers")) {
		if name, ok := stringOf(m.value); ok {
			if all == nil {
				all = map[string]*string{}
			}
			v := "${" + name + "}"
			all[m.name] = &v
		}
	}
	if all != nil {
		r.set("headers", all)
	}
}

// writeCodex writes values that come from variables as names of variables, where codex allows it.
func writeCodex(w *hostWriting) {
	if list, ok := w.takeField("inheritEnv").([]string); ok {
		w.set("env_vars", list)
	}
	if name, ok := onlyVariable(w.entry.values["auth.token"]); ok {
		w.takeField("auth.token")
		w.takeField("auth.type")
		w.set("bearer_token_env_var", name)
	}
	writeCodexEnv(w)
	writeCodexHeaders(w)
}

// writeCodexEnv lists variables that keep their name in env_vars, and writes the others into env.
func writeCodexEnv(w *hostWriting) {
	env, _ := w.takeField("env").(map[string]*string)
	fixed, passed := map[string]*string{}, w.out.strings("env_vars")
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if env[name] != nil {
			if v, ok := onlyVariable(*env[name]); ok && v == name {
				passed = append(passed, name)
				continue
			}
		}
		fixed[name] = env[name]
	}
	if passed != nil {
		w.set("env_vars", passed)
	}
	if len(fixed) > 0 {
		w.set("env", w.dict(fixed))
	}
}

// writeCodexHeaders splits headers into those whose value is a variable and those with a fixed value.
func writeCodexHeaders(w *hostWriting) {
	headers, _ := w.takeField("headers").(map[string]*string)
	fixed, named := map[string]*string{}, map[string]*string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value := *headers[name]
		token, bearer := strings.CutPrefix(value, "Bearer ")
		if v, ok := onlyVariable(token); ok && bearer && name == "Authorization" {
			w.set("bearer_token_env_var", v)
		} else if v, ok := onlyVariable(value); ok {
			named[name] = &v
		} else {
			fixed[name] = headers[name]
		}
	}
	if len(fixed) > 0 {
		w.set("http_headers", w.dict(fixed))
	}
	if len(named) > 0 {
		w.set("env_http_headers", named)
	}
}

// onlyVariable returns NAME if v is the text ${NAME}.
func onlyVariable(v any) (name string, ok bool) {
	s, _ := v.(string)
	ps := split(s)
	if len(ps) != 1 || ps[0].ref == "" {
		return "", false
	}
	got := parseVariable(ps[0].ref)
	return got.name, got.name != "" && !got.defaulted
}
