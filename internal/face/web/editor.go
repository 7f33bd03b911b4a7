package web

import (
	"context"
	"net/http"

	serveradmin "collie/internal/source/upstream/admin"
)

// Editor changes which servers there are, and signs people in to them.
type Editor interface {
	// Add, Remove and Switch change the settings, and return when that is in effect.
	Add(ctx context.Context, n *serveradmin.NewServers) (serveradmin.Added, error)
	Remove(ctx context.Context, name string) error
	Switch(ctx context.Context, name string, on bool) error
	// Hosts returns the programs that have servers, and Import takes some of them over.
	Hosts() ([]serveradmin.Host, error)
	Import(ctx context.Context, n *serveradmin.Importing) (serveradmin.Imported, error)
	// SignIn begins a sign-in at a server, Answer gives it the address at which the browser ended, and Signing says how it is.
	SignIn(ctx context.Context, name string) (serveradmin.SigningIn, error)
	Answer(ctx context.Context, name, text string) error
	Signing(name string) serveradmin.SigningIn
	SignOut(ctx context.Context, name string) (revoked bool, err error)
}

// editorRoutes returns the routes that change which servers there are.
func editorRoutes() []Route {
	return []Route{
		{"POST /api/v1/mcp/servers", ClassManage, (*api).addServers, about{
			summary: "Add servers to the settings; one that runs a command takes its name in typed, which the answer to a dry run has as type",
			in:      serveradmin.NewServers{}, out: serveradmin.Added{},
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

func (a *api) removeServer(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Editor.Remove(r.Context(), r.PathValue("name")))
}

// switching returns the handler that switches a server on or off.
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
	Revoked bool `json:"revoked"` // false if the server could not be told
}

func (a *api) signOut(w http.ResponseWriter, r *http.Request) error {
	revoked, err := a.opts.Editor.SignOut(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, signedOut{revoked})
}
