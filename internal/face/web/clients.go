package web

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

// Clients is the part of the management of MCP clients that this face needs.
type Clients interface {
	Clients() ([]Client, error)
	// Connect writes Collie into a client's file, or with c.DryRun only says what it would write.
	Connect(ctx context.Context, name string, c *Connecting) (ClientChange, error)
	// Disconnect takes Collie out of a client's files, and returns these.
	Disconnect(ctx context.Context, name string) (files []string, err error)
	Tokens() ([]Token, error)
	// Rotate gives a token a new secret and returns it, with the clients that still have the old one.
	Rotate(ctx context.Context, name string) (NewSecret, error)
	Revoke(ctx context.Context, name string) error
	// Profiles returns the names of all profiles.
	Profiles() []string
}

// Client is a place where a program has, or could have, Collie among its servers.
type Client struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Installed bool   `json:"installed"`
	File      string `json:"file"`
	Connected bool   `json:"connected"`
	Missing   bool   `json:"missing,omitempty"` // it starts a program that does not exist
	Off       bool   `json:"off,omitempty"`     // switched off there
	HTTP      bool   `json:"http,omitempty"`    // over HTTP, in place of a program that it starts
	Profile   string `json:"profile,omitempty"`
	Problem   string `json:"problem,omitempty"` // why the file cannot be read
}

// Connecting says how a client is to be connected.
type Connecting struct {
	HTTP    bool   `json:"http,omitempty"`    // over HTTP with a token of its own
	Profile string `json:"profile,omitempty"` // the tools that it sees; empty keeps what it has
	DryRun  bool   `json:"dryRun,omitempty"`
}

// ClientChange is a change of a client's file.
type ClientChange struct {
	File    string          `json:"file"`
	Path    []string        `json:"path"`    // where in the file the entry stands
	Entry   json.RawMessage `json:"entry"`   // the token is left out
	Text    string          `json:"text"`    // the change, for people
	Changed bool            `json:"changed"` // false if the file has the entry already
	Written bool            `json:"written"`
	Profile string          `json:"profile,omitempty"`
	Next    string          `json:"next"`  // what the person does then
	Twice   []string        `json:"twice"` // servers that the client starts itself too
}

// Token is a named token, without its secret.
type Token struct {
	Name    string    `json:"name"`
	Profile string    `json:"profile,omitempty"` // the only one that it may use
	Scopes  []string  `json:"scopes"`
	Client  string    `json:"client,omitempty"` // for which it was made
	File    string    `json:"file,omitempty"`   // in which it stands
	Made    time.Time `json:"made"`
}

// NewSecret is the new secret of a token. It is told once.
type NewSecret struct {
	Token   string   `json:"token"`
	Clients []string `json:"clients"` // that have the old one, and are to be written anew
}

// clientRoutes returns the routes of MCP clients, their tokens, and the profiles they see.
func clientRoutes() []Route {
	return []Route{
		{"GET /api/v1/clients", ClassManage, (*api).clients, about{summary: "The MCP clients that Collie knows, and which are connected", out: clientList{}}},
		{"POST /api/v1/clients/{name}", ClassManage, (*api).connectClient, about{
			summary: "Write Collie into a client's settings; with dryRun, only say what would be written", in: Connecting{}, out: ClientChange{},
		}},
		{"DELETE /api/v1/clients/{name}", ClassManage, (*api).disconnectClient, about{summary: "Take Collie out of a client's settings, and end its token", out: changedFiles{}}},
		{"GET /api/v1/tokens", ClassManage, (*api).tokens, about{summary: "The named tokens, without their secrets", out: tokenList{}}},
		{"POST /api/v1/tokens/{name}/rotate", ClassManage, (*api).rotateToken, about{summary: "Give a token a new secret, which is told once", out: NewSecret{}}},
		{"DELETE /api/v1/tokens/{name}", ClassManage, (*api).revokeToken, about{summary: "End a token"}},
		{"GET /api/v1/profiles", ClassManage, (*api).profiles, about{summary: "The profiles, and what the list of tools of each costs a model", out: profileList{}}},
	}
}

type clientList struct {
	Clients []Client `json:"clients"`
}

func (a *api) clients(w http.ResponseWriter, _ *http.Request) error {
	found, err := a.opts.Clients.Clients()
	if err != nil {
		return err
	}
	return answer(w, clientList{append([]Client{}, found...)})
}

func (a *api) connectClient(w http.ResponseWriter, r *http.Request) error {
	var c Connecting
	if err := decodeBody(r, &c, `{"http":true,"dryRun":true}`); err != nil {
		return err
	}
	change, err := a.opts.Clients.Connect(r.Context(), r.PathValue("name"), &c)
	if err != nil {
		return err
	}
	return answer(w, change)
}

type changedFiles struct {
	Files []string `json:"files"`
}

func (a *api) disconnectClient(w http.ResponseWriter, r *http.Request) error {
	files, err := a.opts.Clients.Disconnect(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, changedFiles{append([]string{}, files...)})
}

type tokenList struct {
	Tokens []Token `json:"tokens"`
}

func (a *api) tokens(w http.ResponseWriter, _ *http.Request) error {
	found, err := a.opts.Clients.Tokens()
	if err != nil {
		return err
	}
	return answer(w, tokenList{append([]Token{}, found...)})
}

func (a *api) rotateToken(w http.ResponseWriter, r *http.Request) error {
	secret, err := a.opts.Clients.Rotate(r.Context(), r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer(w, secret)
}

func (a *api) revokeToken(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Clients.Revoke(r.Context(), r.PathValue("name")))
}

type profileList struct {
	Profiles []shownProfile `json:"profiles"`
}

type shownProfile struct {
	Name  string `json:"name"`
	Tools int    `json:"tools"` // in the list that a client gets
	List  cost   `json:"list"`
}

func (a *api) profiles(w http.ResponseWriter, r *http.Request) error {
	out := profileList{Profiles: []shownProfile{}}
	for _, name := range a.opts.Clients.Profiles() {
		raw, _ := a.opts.Pipeline.List(r.Context(), tool.ListTools, name)
		out.Profiles = append(out.Profiles, shownProfile{name, int(gjson.GetBytes(raw, "tools.#").Int()), costOf(raw)})
	}
	return answer(w, out)
}
