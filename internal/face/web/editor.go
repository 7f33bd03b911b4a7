package web

import (
	"context"
	"net/http"

	serveradmin "collie/internal/source/upstream/admin"
)

// Editor manages the MCP servers and their sign-ins.
type Editor interface {
	// Add, Remove and Switch change the settings. They return when the change is in effect.
	Add(ctx context.Context, n *serveradmin.NewServers) (serveradmin.Added, error)
	Remove(ctx context.Context, name string) error
	Switch(ctx context.Context, name string, on bool) error
	// Entry returns the entry of a server with its secrets masked, and ChangeEntry takes it back changed.
	Entry(ctx context.Context, name string) (serveradmin.ShownEntry, error)
	ChangeEntry(ctx context.Context, name string, n *serveradmin.ChangedEntry) (serveradmin.Added, error)
	// Search and Offer ask the registry of the settings, and EntryOf makes what Add takes of a server there.
	Search(ctx context.Context, words, cursor string) (serveradmin.RegistryPage, error)
	Offer(ctx context.Context, pinned string, kind serveradmin.RegistryKind) (serveradmin.RegistryOffer, error)
	EntryOf(ctx context.Context, f *serveradmin.FromRegistry) (serveradmin.RegistryEntry, error)
	// Hosts returns other programs with MCP servers. Import copies some of these servers.
	Hosts() ([]serveradmin.Host, error)
	Import(ctx context.Context, n *serveradmin.Importing) (serveradmin.Imported, error)
	// SignIn starts a sign-in at a server. Answer passes on the address to which the browser was redirected. Signing
	// returns the state of the sign-in.
	SignIn(ctx context.Context, name string) (serveradmin.SigningIn, error)
	Answer(ctx context.Context, name, text string) error
	Signing(name string) serveradmin.SigningIn
	SignOut(ctx context.Context, name string) (revoked bool, err error)
}

// editorRoutes returns the routes that manage servers.
func editorRoutes() []Route {
	return []Route{
		{"POST /api/v1/mcp/servers", ClassManage, (*api).addServers, about{
			summary: "Add servers to the settings; one that runs a command takes its name in typed, which the answer to a dry run has as type",
			in:      serveradmin.NewServers{}, out: serveradmin.Added{},
		}},
		{"GET /api/v1/mcp/registry", ClassManage, (*api).searchRegistry, about{
			summary: "Ask the MCP registry of the settings for servers whose name contains words", out: serveradmin.RegistryPage{},
			query: []string{"words: part of a name", "cursor: next of the page before"},
		}},
		{"GET /api/v1/mcp/registry/server", ClassManage, (*api).registryServer, about{
			summary: "How a server of the registry would be added, and what it asks for", out: serveradmin.RegistryOffer{},
			query: []string{"name: NAME or NAME@VERSION", "kind: npm, pypi, oci or remote; empty for the first that can be run here"},
		}},
		{"POST /api/v1/mcp/registry/entry", ClassManage, (*api).registryEntry, about{
			summary: "Make the entry of a server of the registry, for POST /api/v1/mcp/servers; nothing is stored yet", in: serveradmin.FromRegistry{}, out: serveradmin.RegistryEntry{},
		}},
		{"GET /api/v1/mcp/servers/{name}/entry", ClassManage, (*api).serverEntry, about{summary: "The entry of a server in the settings; *** stands for each secret", out: serveradmin.ShownEntry{}}},
		{"PUT /api/v1/mcp/servers/{name}/entry", ClassManage, (*api).changeServerEntry, about{
			summary: "Change the entry of a server; *** keeps a secret, and where it runs something else or sends secrets elsewhere, typed takes its name",
			in:      serveradmin.ChangedEntry{}, out: serveradmin.Added{},
		}},
		{"DELETE /api/v1/mcp/servers/{name}", ClassManage, (*api).removeServer, about{summary: "Remove a server from the settings"}},
		{"POST /api/v1/mcp/servers/{name}/enable", ClassManage, switching(true), about{summary: "Switch a server on in the settings", out: none{}}},
		{"POST /api/v1/mcp/servers/{name}/disable", ClassManage, switching(false), about{summary: "Switch a server off, and keep it in the settings", out: none{}}},
		{"GET /api/v1/mcp/hosts", ClassManage, (*api).hosts, about{summary: "Other programs here that have MCP servers, and how many are new", out: hostList{}}},
		{"POST /api/v1/mcp/import", ClassManage, (*api).importServers, about{
			summary: "Take over servers of another program; where one runs a command, typed takes the program's name",
			in:      serveradmin.Importing{}, out: serveradmin.Imported{},
		}},
		{"POST /api/v1/mcp/servers/{name}/signin", ClassManage, (*api).signIn, about{summary: "Begin to sign in at a server, and say where a person does so", out: serveradmin.SigningIn{}}},
		{"GET /api/v1/mcp/servers/{name}/signin", ClassManage, (*api).signing, about{summary: "How the last sign-in at a server is", out: serveradmin.SigningIn{}}},
		{"POST /api/v1/mcp/servers/{name}/signin/answer", ClassManage, (*api).signInAnswer, about{
			summary: "Give a waiting sign-in the address at which the browser ended", in: pastedAddress{}, out: none{},
		}},
		{"DELETE /api/v1/mcp/servers/{name}/signin", ClassManage, (*api).signOut, about{summary: "Sign out of a server", out: signedOut{}}},
	}
}

func (a *api) addServers(w http.ResponseWriter, r *http.Request) error {
	var n serveradmin.NewServers
	if err := decodeBody(r, &n, `{"json":…,"name":…,"dryRun":true}`); err != nil {
		return err
	}
	added, err := a.opts.Editor.Add(r.Context(), &n)
	if err != nil {
		return err
	}
	return answer(w, added)
}

func (a *api) searchRegistry(w http.ResponseWriter, r *http.Request) error {
	page, err := a.opts.Editor.Search(r.Context(), r.URL.Query().Get("words"), r.URL.Query().Get("cursor"))
	if err != nil {
		return err
	}
	return answer(w, page)
}

func (a *api) registryServer(w http.ResponseWriter, r *http.Request) error {
	offer, err := a.opts.Editor.Offer(r.Context(), r.URL.Query().Get("name"), serveradmin.RegistryKind(r.URL.Query().Get("kind")))
	if err != nil {
		return err
	}
	return answer(w, offer)
}

func (a *api) registryEntry(w http.ResponseWriter, r *http.Request) error {
	var body serveradmin.FromRegistry
	if err := decodeBody(r, &body, `{"pinned":"io.github.user/weather@1.0.0","inputs":{…}}`); err != nil {
		return err
	}
	entry, err := a.opts.Editor.EntryOf(r.Context(), &body)
	if err != nil {
		return err
	}
	return answer(w, entry)
}

func (a *api) serverEntry(w http.ResponseWriter, r *http.Request) error {
	shown, err := a.opts.Editor.Entry(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, shown)
}

func (a *api) changeServerEntry(w http.ResponseWriter, r *http.Request) error {
	var n serveradmin.ChangedEntry
	if err := decodeBody(r, &n, `{"entry":{…},"revision":…,"dryRun":true}`); err != nil {
		return err
	}
	changed, err := a.opts.Editor.ChangeEntry(r.Context(), r.PathValue("name"), &n)
	if err != nil {
		return err
	}
	return answer(w, changed)
}

func (a *api) removeServer(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Editor.Remove(r.Context(), r.PathValue("name")))
}

// switching returns the handler that enables or disables a server.
func switching(on bool) func(*api, http.ResponseWriter, *http.Request) error {
	return func(a *api, w http.ResponseWriter, r *http.Request) error {
		if err := a.opts.Editor.Switch(r.Context(), r.PathValue("name"), on); err != nil {
			return err
		}
		return answer(w, none{})
	}
}

type hostList struct {
	Hosts []serveradmin.Host `json:"hosts"`
}

func (a *api) hosts(w http.ResponseWriter, _ *http.Request) error {
	found, err := a.opts.Editor.Hosts()
	if err != nil {
		return err
	}
	return answer(w, hostList{found})
}

func (a *api) importServers(w http.ResponseWriter, r *http.Request) error {
	var n serveradmin.Importing
	if err := decodeBody(r, &n, `{"from":…,"dryRun":true}`); err != nil {
		return err
	}
	imported, err := a.opts.Editor.Import(r.Context(), &n)
	if err != nil {
		return err
	}
	return answer(w, imported)
}

func (a *api) signIn(w http.ResponseWriter, r *http.Request) error {
	begun, err := a.opts.Editor.SignIn(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, begun)
}

func (a *api) signing(w http.ResponseWriter, r *http.Request) error {
	return answer(w, a.opts.Editor.Signing(r.PathValue("name")))
}

type pastedAddress struct {
	Address string `json:"address"`
}

func (a *api) signInAnswer(w http.ResponseWriter, r *http.Request) error {
	var body pastedAddress
	if err := decodeBody(r, &body, `{"address":…}`); err != nil {
		return err
	}
	if err := a.opts.Editor.Answer(r.Context(), r.PathValue("name"), body.Address); err != nil {
		return err
	}
	return answer(w, none{})
}

type signedOut struct {
	Revoked bool `json:"revoked"` // false if revoking the tokens at the server failed
}

func (a *api) signOut(w http.ResponseWriter, r *http.Request) error {
	revoked, err := a.opts.Editor.SignOut(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, signedOut{revoked})
}
