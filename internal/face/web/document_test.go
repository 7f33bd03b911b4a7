package web_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"

	"collie/internal/agent/library"
	"collie/internal/chat"
	"collie/internal/face/web"
	llmadmin "collie/internal/llm/admin"
	"collie/internal/llm/keypool"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate/grant"
	"collie/internal/pipeline/gate/grant/granttest"
	"collie/internal/source"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// newClientOfAllParts returns a client of an API with all its parts, which identifies every caller as a person at a terminal.
func newClientOfAllParts(t *testing.T) client {
	t.Helper()
	dir := t.TempDir()
	log, err := audit.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	offered := tooltest.Offer("s", tooltest.Action("echo"))
	offered.Prompts = []tool.Prompt{{Name: "greet", Definition: json.RawMessage(`{"name":"greet","title":"Greet","arguments":[{"name":"who","required":true}]}`)}}
	offered.Resources = []tool.Resource{tooltest.Resource("s://a")}
	catalog := source.New([]tool.Source{
		tooltest.NewFake("s", offered), tooltest.NewFake("fs", tooltest.Offer("fs", tooltest.Action("write"))),
	}, source.Options{})
	t.Cleanup(func() {
		catalog.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	service := newChatService(t)
	return client{t, web.New(web.Options{
		Pipeline: pipeline.New(catalog, pipeline.Options{Audit: log}), Servers: servers{}, Tools: catalog.Tools, Prompts: catalog.Prompts, Cache: &cache{},
		Providers: providers{}, Grants: grants{}, Audit: auditFolder{dir, log}, Clients: mcpClients{}, Settings: someSettings{}, Kernels: kernels{},
		Doctor: func(context.Context) []web.Check {
			return []web.Check{{Name: "token", Health: "fail", Detail: "gone", Hint: "make one"}}
		},
		Agents: agents{t.TempDir()}, Rebalance: func() error { return nil }, SettingsProblem: func() string { return "" }, Reread: func(context.Context) error { return nil },
		Editor:     editor{},
		Switch:     func(context.Context, string, string, bool) error { return nil },
		Describe:   func(context.Context, string, string, string, string) error { return nil },
		CacheStats: func() any { return map[string]int{"entries": 1} },
		Browsers:   oneBrowser{}, Waiting: &waitingCalls{given: map[string]bool{}, open: []web.OpenQuestion{{ID: "K7RM4T", Client: "cursor", Question: removing}}},
		Chat:      func(context.Context) (*chat.Service, error) { return service, nil },
		Notes:     func() (web.Notes, error) { return notebooks{}, nil },
		Translate: func(language, text string) string { return language + " " + text },
		Identify: func(*http.Request) web.Identity {
			return web.Identity{Principal: "me", Origin: tool.Direct, Manage: true}
		},
	})}
}

// kernels is one connection.
type kernels struct{}

func (kernels) Kernels() (web.KernelList, error) {
	return web.KernelList{Kernels: []web.Kernel{{Name: "work", URL: "http://127.0.0.1:6806", Token: "configured"}}, Current: "work"}, nil
}

func (kernels) SaveKernel(context.Context, string, *web.NewKernel) (web.KernelFacts, error) {
	return web.KernelFacts{Version: "3.3.0", Workspace: "/home/me/SiYuan", Notebooks: 2}, nil
}

func (kernels) TestKernel(context.Context, string) (web.KernelFacts, error) {
	return web.KernelFacts{Version: "3.3.0"}, nil
}
func (kernels) UseKernel(context.Context, string) error    { return nil }
func (kernels) RemoveKernel(context.Context, string) error { return nil }

// someSettings is one setting.
type someSettings struct{}

func (someSettings) Settings() (web.SettingList, error) {
	return web.SettingList{File: "collie.json", Settings: []web.Setting{{Path: "http.addr", Kind: "text", Value: json.RawMessage(`"127.0.0.1:7420"`)}}}, nil
}
func (someSettings) Set(context.Context, string, json.RawMessage) error { return nil }
func (someSettings) Listen(context.Context, web.Listener) (web.Moved, error) {
	return web.Moved{URL: "http://127.0.0.1:7421", Link: "http://127.0.0.1:7421/pages/#link=x"}, nil
}

func (someSettings) Unset(context.Context, string) error { return nil }

// mcpClients is one client with a token.
type mcpClients struct{}

func (mcpClients) Clients() ([]web.Client, error) {
	return []web.Client{{Name: "cursor", Title: "Cursor", Installed: true, File: "mcp.json"}}, nil
}

func (mcpClients) Connect(_ context.Context, _ string, c *web.Connecting) (web.ClientChange, error) {
	return web.ClientChange{File: "mcp.json", Path: []string{"mcpServers", "collie"}, Entry: json.RawMessage(`{"url":"x"}`), Changed: true, Written: !c.DryRun, Twice: []string{}}, nil
}

func (mcpClients) Disconnect(context.Context, string) ([]string, error) {
	return []string{"mcp.json"}, nil
}
func (mcpClients) Revoke(context.Context, string) error { return nil }
func (mcpClients) Profiles() []web.Profile {
	return []web.Profile{{Name: "default"}, {Name: "work", Rules: &web.ProfileRules{Notebooks: map[string]string{"*": "r"}}}}
}

func (mcpClients) SaveProfile(context.Context, string, string, *web.ProfileRules) error { return nil }

func (mcpClients) RemoveProfile(context.Context, string, string) error { return nil }

func (mcpClients) AddToken(context.Context, *web.NewToken) (web.NewSecret, error) {
	return web.NewSecret{Token: "collie_x", Clients: []string{}}, nil
}

func (mcpClients) Tokens() ([]web.Token, error) {
	return []web.Token{{Name: "cursor", Scopes: []string{"tools"}, Client: "cursor"}}, nil
}

func (mcpClients) Rotate(context.Context, string) (web.NewSecret, error) {
	return web.NewSecret{Token: "collie_x", Clients: []string{"cursor"}}, nil
}

// auditFolder is the audit log in a folder.
type auditFolder struct {
	dir string
	log *audit.Log
}

func (r auditFolder) Dir() string { return r.dir }

func (r auditFolder) Query(ctx context.Context, f audit.Filter) iter.Seq2[audit.Entry, error] {
	return audit.Query(ctx, r.dir, f)
}

func (r auditFolder) Verify(ctx context.Context) (audit.Report, error) {
	return audit.Verify(ctx, r.dir, "")
}

func (r auditFolder) Export(ctx context.Context, w io.Writer, _ bool, since, until time.Time) (audit.Exported, error) {
	return audit.Export(ctx, r.dir, w, since, until)
}

func (r auditFolder) Exported(ctx context.Context, detail json.RawMessage) error {
	return r.log.AppendSync(ctx, tool.Record{Kind: audit.KindExport, Name: "audit", Detail: detail})
}

// editor accepts all changes of servers and makes none.
type editor struct{}

func (editor) Add(context.Context, *serveradmin.NewServers) (serveradmin.Added, error) {
	return serveradmin.Added{Servers: []serveradmin.NewServer{{Name: "s", Transport: "stdio", Entry: json.RawMessage(`{"command":"x"}`)}}, Type: "s", Warnings: []string{}}, nil
}

func (editor) Entry(context.Context, string) (serveradmin.ShownEntry, error) {
	return serveradmin.ShownEntry{Name: "s", File: "collie.json", Entry: json.RawMessage(`{"command":"x"}`), Revision: "r"}, nil
}

func (e editor) ChangeEntry(ctx context.Context, _ string, _ *serveradmin.ChangedEntry) (serveradmin.Added, error) {
	return e.Add(ctx, nil)
}

func (editor) Search(context.Context, string, string) (serveradmin.RegistryPage, error) {
	return serveradmin.RegistryPage{Servers: []serveradmin.RegistryServer{{Name: "a.b/c", Version: "1.0.0", Ways: []serveradmin.RegistryKind{"npm"}}}}, nil
}

func (editor) Offer(context.Context, string, serveradmin.RegistryKind) (serveradmin.RegistryOffer, error) {
	return serveradmin.RegistryOffer{Pinned: "a.b/c@1.0.0", Name: "c", Kind: "npm", Kinds: []serveradmin.RegistryKind{"npm"}, Inputs: []serveradmin.RegistryInput{{Key: "KEY", Place: "env", Secret: true}}}, nil
}

func (editor) EntryOf(context.Context, *serveradmin.FromRegistry) (serveradmin.RegistryEntry, error) {
	return serveradmin.RegistryEntry{Name: "c", Entry: json.RawMessage(`{"command":"npx"}`), Secrets: map[string]string{"C_KEY": "KEY"}}, nil
}
func (editor) Remove(context.Context, string) error       { return nil }
func (editor) Switch(context.Context, string, bool) error { return nil }
func (editor) Hosts() ([]serveradmin.Host, error) {
	return []serveradmin.Host{{Name: "cursor", Title: "Cursor", Servers: 1}}, nil
}

func (editor) Import(context.Context, *serveradmin.Importing) (serveradmin.Imported, error) {
	return serveradmin.Imported{Added: []string{"s"}, Type: "cursor", Written: true}, nil
}

func (editor) SignIn(context.Context, string) (serveradmin.SigningIn, error) {
	return serveradmin.SigningIn{State: "waiting", Address: "https://example.com"}, nil
}
func (editor) Answer(context.Context, string, string) error  { return nil }
func (editor) Signing(string) serveradmin.SigningIn          { return serveradmin.SigningIn{State: "done"} }
func (editor) SignOut(context.Context, string) (bool, error) { return true, nil }

// oneBrowser is one browser.
type oneBrowser struct{}

func (oneBrowser) Link(bool) (web.Link, error) {
	return web.Link{Address: "http://127.0.0.1:7420/pages/#link=x", Until: time.Now(), QR: []string{"1"}}, nil
}

func (oneBrowser) Elsewhere() bool { return true }

func (oneBrowser) List() []web.Browser {
	return []web.Browser{{ID: "b", Name: "Firefox, Linux", Host: "127.0.0.1:7420"}}
}
func (oneBrowser) End(context.Context, string) error { return nil }

// agents are the files of agents in a folder.
type agents struct{ dir string }

func (a agents) Library() *library.Library { return library.Read(library.Places{Config: a.dir}) }

func (a agents) Source(kind library.Kind, name string) (text, file string, err error) {
	return library.Source(a.dir, kind, name)
}

func (a agents) Put(_ context.Context, kind library.Kind, name, text string) (file string, err error) {
	return library.Put(a.dir, kind, name, text)
}

func (a agents) Delete(_ context.Context, kind library.Kind, name string) (file string, err error) {
	return library.Delete(a.dir, kind, name)
}

// grants is one grant.
type grants struct{}

func (grants) List(context.Context) ([]grant.Grant, error) {
	return []grant.Grant{granttest.Sample(1)}, nil
}

func (grants) Revoke(_ context.Context, id string) (grant.Grant, error) {
	if g := granttest.Sample(1); g.ID == id {
		return g, nil
	}
	return grant.Grant{}, grant.NotFound(id)
}

// providers is a provider with one key.
type providers struct{}

var aProvider, aKey = llmadmin.Provider{Name: "p", Kind: "openai", Keys: []string{"main"}}, llmadmin.Key{
	Status: keypool.Status{KeyState: keypool.KeyState{Provider: "p", Label: "main", Rest: keypool.Rest{State: "active"}}, Weight: 1}, Secret: "env:KEY",
}

func (providers) Providers() []llmadmin.Provider                  { return []llmadmin.Provider{aProvider} }
func (providers) Remove(context.Context, string) error            { return nil }
func (providers) RemoveKey(context.Context, string, string) error { return nil }
func (providers) ResetKey(context.Context, string, string) error  { return nil }

func (providers) ModelNames(context.Context) ([]string, error) { return []string{"p/m"}, nil }

func (providers) Add(context.Context, *llmadmin.NewProvider) (llmadmin.Provider, error) {
	return aProvider, nil
}

func (providers) Test(context.Context, string) ([]llmadmin.TestResult, error) {
	return []llmadmin.TestResult{{Provider: "p", Label: "main", Error: "no"}}, nil
}

func (providers) TestKey(context.Context, string, string) (llmadmin.TestResult, error) {
	return llmadmin.TestResult{Provider: "p", Label: "main", OK: true, Models: 2}, nil
}

func (providers) Caches(context.Context) ([]llmadmin.CacheStats, error) {
	return []llmadmin.CacheStats{{Name: "models", Entries: 1}}, nil
}

func (providers) ClearCache(context.Context, string) (int, error) { return 1, nil }

func (providers) Keys(context.Context, string) ([]llmadmin.Key, error) {
	return []llmadmin.Key{aKey}, nil
}

func (providers) AddKey(context.Context, string, *llmadmin.NewKey) (llmadmin.Key, error) {
	return aKey, nil
}

func (providers) SetKey(context.Context, string, string, *llmadmin.KeyChange) (llmadmin.Key, error) {
	return aKey, nil
}

// example is a valid request for a route: the values of the variables in its path, separated by slashes, a query and a body.
type example struct{ name, query, body string }

// examples returns a function for each route of the document that makes a valid request for it.
func (c client) examples() map[string]func() example {
	session := func() string {
		_, made := c.do(201, "POST", "/sessions", `{"title":"tea"}`)
		return made.Get("id").String()
	}
	talked := func() (session, turn, answer, question string) {
		session, turn, answer = c.sendAndAwaitAnswer()
		_, v := c.do(200, "GET", "/sessions/"+session, "")
		return session, turn, answer, v.Get("path.0.id").String()
	}
	is := func(e example) func() example { return func() example { return e } }
	s := is(example{name: "s"})
	entry := func() example {
		c.do(200, "PUT", "/agents/context/tea", `{"text":"---\nkeywords: [tea]\n---\ngreen"}`)
		return example{name: "context/tea"}
	}
	return map[string]func() example{
		"GET /api/v1/mcp/servers":                          is(example{}),
		"GET /api/v1/mcp/servers/{name}":                   s,
		"GET /api/v1/mcp/servers/{name}/logs":              s,
		"GET /api/v1/mcp/servers/{name}/changes":           s,
		"POST /api/v1/mcp/servers/{name}/approve":          is(example{name: "s", body: `{"tools":["t"],"hashes":{"t":"h2"}}`}),
		"POST /api/v1/mcp/servers/{name}/start":            s,
		"POST /api/v1/mcp/servers/{name}/stop":             s,
		"POST /api/v1/mcp/servers/{name}/restart":          s,
		"POST /api/v1/mcp/servers/{name}/refresh":          s,
		"POST /api/v1/mcp/servers":                         is(example{body: `{"json":"{}","name":"s","dryRun":true}`}),
		"GET /api/v1/mcp/registry":                         is(example{query: "?words=c"}),
		"GET /api/v1/mcp/registry/server":                  is(example{query: "?name=a.b/c"}),
		"POST /api/v1/mcp/registry/entry":                  is(example{body: `{"pinned":"a.b/c@1.0.0"}`}),
		"GET /api/v1/mcp/servers/{name}/entry":             s,
		"PUT /api/v1/mcp/servers/{name}/entry":             is(example{name: "s", body: `{"entry":{"command":"x"},"revision":"r"}`}),
		"DELETE /api/v1/mcp/servers/{name}":                s,
		"POST /api/v1/mcp/servers/{name}/enable":           s,
		"POST /api/v1/mcp/servers/{name}/disable":          s,
		"GET /api/v1/tools/switches":                       is(example{}),
		"POST /api/v1/tools/switches":                      is(example{body: `{"tool":"s","action":"echo","on":false}`}),
		"PUT /api/v1/tools/words":                          is(example{body: `{"tool":"s","action":"echo","alias":"say","description":"Says it."}`}),
		"GET /api/v1/mcp/hosts":                            is(example{}),
		"POST /api/v1/mcp/import":                          is(example{body: `{"from":"cursor","select":["s"]}`}),
		"POST /api/v1/mcp/servers/{name}/signin":           s,
		"GET /api/v1/mcp/servers/{name}/signin":            s,
		"POST /api/v1/mcp/servers/{name}/signin/answer":    is(example{name: "s", body: `{"address":"http://127.0.0.1:1/callback"}`}),
		"DELETE /api/v1/mcp/servers/{name}/signin":         s,
		"GET /api/v1/audit":                                is(example{query: "?kind=change&limit=1"}),
		"GET /api/v1/audit/verify":                         is(example{}),
		"POST /api/v1/audit/export":                        is(example{body: `{"kind":"change","since":"2026-01-31T00:00:00Z"}`}),
		"GET /api/v1/clients":                              is(example{}),
		"POST /api/v1/clients/{name}":                      is(example{name: "cursor", body: `{"http":true,"dryRun":true}`}),
		"DELETE /api/v1/clients/{name}":                    is(example{name: "cursor"}),
		"GET /api/v1/tokens":                               is(example{}),
		"POST /api/v1/tokens":                              is(example{body: `{"name":"phone","scopes":["chat"],"typed":"phone"}`}),
		"POST /api/v1/tokens/{name}/rotate":                is(example{name: "cursor"}),
		"DELETE /api/v1/tokens/{name}":                     is(example{name: "cursor"}),
		"PUT /api/v1/profiles/{name}":                      is(example{name: "work", body: `{"tools":{"include":["fs"]},"actions":{}}`}),
		"DELETE /api/v1/profiles/{name}":                   is(example{name: "work", query: "?typed=work"}),
		"GET /api/v1/profiles":                             is(example{}),
		"GET /api/v1/notes/memory":                         is(example{}),
		"PUT /api/v1/notes/memory":                         is(example{body: `{"text":"The person writes British English."}`}),
		"GET /api/v1/notes/rules":                          is(example{}),
		"PUT /api/v1/notes/rules":                          is(example{body: `{"text":"Answer in one sentence."}`}),
		"GET /api/v1/siyuan/connections":                   is(example{}),
		"PUT /api/v1/siyuan/connections/{name}":            is(example{name: "work", body: `{"url":"http://127.0.0.1:6806","token":"t"}`}),
		"DELETE /api/v1/siyuan/connections/{name}":         is(example{name: "work"}),
		"POST /api/v1/siyuan/connections/{name}/test":      is(example{name: "work"}),
		"PUT /api/v1/siyuan/current":                       is(example{body: `{"name":"vault"}`}),
		"GET /api/v1/settings":                             is(example{}),
		"PUT /api/v1/settings/{path}":                      is(example{name: "http.addr", body: `{"value":"127.0.0.1:7420"}`}),
		"PUT /api/v1/listener":                             is(example{body: `{"addr":"127.0.0.1:7421"}`}),
		"DELETE /api/v1/settings/{path}":                   is(example{name: "http.addr"}),
		"GET /api/v1/doctor":                               is(example{}),
		"GET /api/v1/grants":                               is(example{}),
		"DELETE /api/v1/grants/{id}":                       is(example{name: granttest.Sample(1).ID}),
		"GET /api/v1/browsers":                             is(example{}),
		"POST /api/v1/browsers/links":                      is(example{body: "{}"}),
		"DELETE /api/v1/browsers/{id}":                     is(example{name: "b"}),
		"GET /api/v1/questions":                            is(example{}),
		"POST /api/v1/questions/{id}":                      is(example{name: "K7RM4T", body: `{"yes":true,"name":"Diary"}`}),
		"POST /api/v1/settings/reread":                     is(example{}),
		"POST /api/v1/translations":                        is(example{body: `{"language":"zh","texts":["a"]}`}),
		"GET /api/v1/notes/levels":                         is(example{}),
		"POST /api/v1/notes/levels":                        is(example{body: `{"notebook":"20260101000000-abcdefg","level":"r"}`}),
		"GET /api/v1/notes/writes":                         is(example{}),
		"GET /api/v1/notes/writes/{id}":                    is(example{name: "w1"}),
		"POST /api/v1/notes/writes/{id}/undo":              is(example{name: "w1", body: "{}"}),
		"GET /api/v1/toolcache/stats":                      is(example{}),
		"POST /api/v1/toolcache/clear":                     is(example{body: `{"servers":["a"]}`}),
		"POST /api/v1/toolcache/flush":                     is(example{}),
		"POST /api/v1/tools/rebalance":                     is(example{}),
		"GET /api/v1/openapi.json":                         is(example{}),
		"GET /api/v1/tools":                                is(example{}),
		"GET /api/v1/lists/{kind}":                         is(example{name: "tools"}),
		"GET /api/v1/agents":                               is(example{}),
		"GET /api/v1/agents/{kind}/{name}":                 entry,
		"PUT /api/v1/agents/{kind}/{name}":                 is(example{name: "context/tea", body: `{"text":"---\nkeywords: [tea]\n---\ngreen"}`}),
		"DELETE /api/v1/agents/{kind}/{name}":              entry,
		"POST /api/v1/agents/matches":                      is(example{body: `{"text":"tea"}`}),
		"GET /api/v1/prompts":                              is(example{}),
		"POST /api/v1/prompts":                             is(example{body: `{"name":"s:greet","args":{"who":"me"}}`}),
		"POST /api/v1/resources":                           is(example{body: `{"uri":"s://a"}`}),
		"POST /api/v1/calls":                               is(example{body: `{"name":"s__echo","args":{}}`}),
		"GET /api/v1/providers":                            s,
		"POST /api/v1/providers":                           is(example{body: `{"name":"openai","key":{"key":"k"}}`}),
		"POST /api/v1/providers/{name}/test":               s,
		"DELETE /api/v1/providers/{name}":                  s,
		"GET /api/v1/models":                               is(example{}),
		"GET /api/v1/keys":                                 is(example{query: "?provider=p"}),
		"POST /api/v1/providers/{name}/keys":               is(example{name: "p", body: `{"secret":"env:KEY"}`}),
		"PATCH /api/v1/providers/{name}/keys/{label}":      is(example{name: "p", body: `{"enabled":false}`}),
		"DELETE /api/v1/providers/{name}/keys/{label}":     s,
		"POST /api/v1/providers/{name}/keys/{label}/test":  s,
		"POST /api/v1/providers/{name}/keys/{label}/reset": s,
		"GET /api/v1/caches":                               is(example{}),
		"POST /api/v1/caches/{name}/clear":                 is(example{name: "models"}),
		"POST /api/v1/sessions":                            is(example{body: `{"title":"tea","config":{"engine":"chat"}}`}),
		"GET /api/v1/sessions":                             func() example { session(); return example{} },
		"GET /api/v1/sessions/{id}":                        func() example { s, _, _, _ := talked(); return example{name: s} },
		"PATCH /api/v1/sessions/{id}":                      func() example { return example{name: session(), body: `{"pinned":true}`} },
		"DELETE /api/v1/sessions/{id}":                     func() example { return example{name: session()} },
		"POST /api/v1/sessions/{id}/turns":                 func() example { return example{name: session(), body: `{"userMessage":{"text":"hi"}}`} },
		"POST /api/v1/messages/{id}/regenerate":            func() example { _, _, a, _ := talked(); return example{name: a, body: `{}`} },
		"POST /api/v1/messages/{id}/continue": func() example {
			_, accepted := c.do(202, "POST", "/sessions/"+session()+"/turns", `{"userMessage":{"text":"break off"}}`)
			c.do(200, "GET", "/turns/"+accepted.Get("turnId").String()+"/events", "") // to its end
			return example{name: accepted.Get("assistantMessageId").String(), body: `{}`}
		},
		"POST /api/v1/messages/{id}/edit": func() example {
			_, _, _, q := talked()
			return example{name: q, body: `{"parts":[{"type":"text","text":"x"}]}`}
		},
		"POST /api/v1/messages/{id}/select": func() example { _, _, _, q := talked(); return example{name: q, body: `{"index":0}`} },
		"POST /api/v1/messages/{id}/fork":   func() example { _, _, a, _ := talked(); return example{name: a, body: `{"extent":"all"}`} },
		"DELETE /api/v1/messages/{id}":      func() example { _, _, a, _ := talked(); return example{name: a} },
		"POST /api/v1/sessions/{id}/prune":  func() example { s, _, _, _ := talked(); return example{name: s} },
		"GET /api/v1/sessions/{id}/export":  func() example { return example{name: session(), query: "?format=markdown"} },
		"POST /api/v1/sessions/{id}/note": func() example {
			return example{name: session(), body: `{"path":"/Welcome/Talk"}`}
		},
		"POST /api/v1/sessions/import": func() example {
			w, _ := c.do(200, "GET", "/sessions/"+session()+"/export", "")
			return example{body: w.Body.String()}
		},
		"GET /api/v1/turns/{id}":         func() example { _, turn, _, _ := talked(); return example{name: turn} },
		"GET /api/v1/turns/{id}/events":  func() example { _, turn, _, _ := talked(); return example{name: turn} },
		"POST /api/v1/turns/{id}/cancel": func() example { _, turn, _, _ := talked(); return example{name: turn} },
		"GET /api/v1/events":             is(example{}),
		"GET /api/v1/search":             func() example { talked(); return example{query: "?q=hello"} },
		"GET /api/v1/usage":              is(example{query: "?since=2026-01-31T00:00:00Z"}),
		"POST /api/v1/blobs":             func() example { return example{query: "?session=" + session(), body: "some text"} },
		"GET /api/v1/blobs/{sha256}": func() example {
			_, f := c.do(201, "POST", "/blobs?session="+session(), "some text")
			return example{name: f.Get("sha256").String()}
		},
	}
}

var variable = regexp.MustCompile(`\{\w+\}`)

// sendExample sends an example. A stream is left once it has begun.
func (c client) sendExample(t *testing.T, method, path string, e example) *httptest.ResponseRecorder {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	names := strings.Split(e.name, "/") // the last one is used for all further variables
	target := variable.ReplaceAllStringFunc(path, func(string) string {
		name := names[0]
		names = names[min(1, len(names)-1):]
		return name
	}) + e.query
	r := httptest.NewRequestWithContext(ctx, strings.ToUpper(method), target, strings.NewReader(e.body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(hangingUp{w, leave}, r)
	return w
}

// hangingUp is a client that hangs up when the first bytes are flushed.
type hangingUp struct {
	*httptest.ResponseRecorder
	leave func()
}

func (l hangingUp) Flush() { l.leave() }

// TestDocument: each route answers with the status, media type and schema of the document, and refuses a body with a member that
// the document does not name.
func TestDocument(t *testing.T) {
	t.Parallel()
	c := newClientOfAllParts(t)
	w, doc := c.do(200, "GET", "/openapi.json", "")
	closed, err := jsonschema.UnmarshalJSON(strings.NewReader(w.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	types := closed.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)
	for _, one := range types { // clients ignore unknown members, but this test refuses them
		one.(map[string]any)["additionalProperties"] = false
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("http://c/api.json", closed); err != nil {
		t.Fatal(err)
	}
	fits := func(t *testing.T, at string, body []byte) {
		t.Helper()
		s, err := compiler.Compile("http://c/api.json#/paths/" + at)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	examples, seen := c.examples(), map[string]bool{}
	doc.Get("paths").ForEach(func(path, methods gjson.Result) bool {
		methods.ForEach(func(method, op gjson.Result) bool {
			pattern := strings.ToUpper(method.String()) + " " + path.String()
			seen[pattern] = true
			t.Run(pattern, func(t *testing.T) {
				example, there := examples[pattern]
				if !there {
					t.Fatal("there is no request for it in examples")
				}
				pointer := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path.String()) + "/" + method.String()
				status := ""
				op.Get("responses").ForEach(func(code, answer gjson.Result) bool { // the first one that is not a stream
					if !answer.Get("content.application/x-ndjson").Exists() {
						status = code.String()
					}
					return status == ""
				})
				sends := op.Get(`requestBody.content.application/json.schema`)
				e := example()
				if sends.Exists() {
					fits(t, pointer+"/requestBody/content/application~1json/schema", []byte(e.body))
				}
				w := c.sendExample(t, method.String(), path.String(), e)
				if strconv.Itoa(w.Code) != status {
					t.Fatalf("%d %s; want %s", w.Code, w.Body, status)
				}
				if content := op.Get("responses." + status + ".content"); content.Exists() {
					media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
					if kinds := slices.Sorted(maps.Keys(content.Map())); !slices.Contains(kinds, media) && !slices.Contains(kinds, "*/*") {
						t.Errorf("the answer is of type %s; want one of %s", media, kinds)
					}
					if content.Get(`application/json.schema`).Exists() {
						fits(t, pointer+"/responses/"+status+"/content/application~1json/schema", w.Body.Bytes())
					}
				}
				if !sends.Get("$ref").Exists() {
					return
				}
				e = example()
				e.body = `{"misspelt":1,` + strings.TrimPrefix(e.body, "{")
				e.body = strings.Replace(e.body, ",}", "}", 1)
				if w := c.sendExample(t, method.String(), path.String(), e); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "misspelt") {
					t.Errorf("an unknown member is answered %d %s", w.Code, w.Body)
				}
			})
			return true
		})
		return true
	})
	for _, r := range web.Routes() {
		if method, _, named := strings.Cut(r.Pattern, " "); named && !seen[r.Pattern] {
			t.Errorf("%s is not in the document (%s)", r.Pattern, method)
		}
	}
}
