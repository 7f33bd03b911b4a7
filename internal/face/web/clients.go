package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
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
	// AddToken makes a token and returns its secret. If the name is taken, the error is of kind Exists.
	AddToken(ctx context.Context, t *NewToken) (NewSecret, error)
	// Rotate gives a token a new secret and returns it, with the clients that still have the old one.
	Rotate(ctx context.Context, name string) (NewSecret, error)
	Revoke(ctx context.Context, name string) error
	// Profiles returns all profiles, sorted by name.
	Profiles() []Profile
	// SaveProfile writes a profile into the settings, and RemoveProfile takes it out; both return when that is in effect. What lets a
	// client see or do more than before is Unconfirmed, unless typed is the name of the profile.
	SaveProfile(ctx context.Context, name, typed string, p *ProfileRules) error
	RemoveProfile(ctx context.Context, name, typed string) error
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

// NewToken is a token to make.
type NewToken struct {
	Name    string   `json:"name"`
	Profile string   `json:"profile,omitempty"` // the only one that it may use; empty allows any
	Scopes  []string `json:"scopes"`            // tools, chat or approve
	Typed   string   `json:"typed,omitempty"`   // the name again, for the scopes chat and approve
}

// Profile is what a client sees that names it.
type Profile struct {
	Name string
	// Rules is nil for the profiles that are built in.
	Rules *ProfileRules
}

// ProfileRules are what a profile of the settings says. Empty ones hide nothing.
type ProfileRules struct {
	Description string            `json:"description,omitempty"`
	View        string            `json:"view,omitempty"` // flat, grouped, search or auto; empty: as in the settings
	Tools       NameFilter        `json:"tools"`
	Actions     NameFilter        `json:"actions"`             // written tool.action
	Notebooks   map[string]string `json:"notebooks,omitempty"` // the highest levels (none, r, rw, rwd), by id; * means all others
}

// NameFilter chooses names by patterns.
type NameFilter struct {
	Include []string `json:"include,omitempty"` // none means all
	Exclude []string `json:"exclude,omitempty"` // wins
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
		{"POST /api/v1/tokens", ClassManage, (*api).addToken, about{
			summary: "Make a token, whose secret is told once; one that chats or approves takes its name in typed", in: NewToken{}, out: NewSecret{}, status: http.StatusCreated,
		}},
		{"POST /api/v1/tokens/{name}/rotate", ClassManage, (*api).rotateToken, about{summary: "Give a token a new secret, which is told once", out: NewSecret{}}},
		{"DELETE /api/v1/tokens/{name}", ClassManage, (*api).revokeToken, about{summary: "End a token"}},
		{"GET /api/v1/profiles", ClassManage, (*api).profiles, about{summary: "The profiles, and what the list of tools of each costs a model", out: profileList{}}},
		{"PUT /api/v1/profiles/{name}", ClassManage, (*api).saveProfile, about{
			summary: "Write a profile into the settings; what lets clients see or do more than before takes its name in typed", in: profileChange{},
		}},
		{"DELETE /api/v1/profiles/{name}", ClassManage, (*api).removeProfile, about{
			summary: "Take a profile out of the settings; the query typed has its name", query: []string{"typed: its name"},
		}},
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

func (a *api) addToken(w http.ResponseWriter, r *http.Request) error {
	var body NewToken
	if err := decodeBody(r, &body, `{"name":…,"scopes":["tools"]}`); err != nil {
		return err
	}
	if slices.ContainsFunc(body.Scopes, func(s string) bool { return s != "tools" }) && strings.TrimSpace(body.Typed) != body.Name {
		return &tool.Error{
			Op: "token add", Kind: tool.Unconfirmed, Subject: body.Name, Message: "a token that chats or approves is made when its name is typed", Hint: "type: " + body.Name,
		}
	}
	secret, err := a.opts.Clients.AddToken(r.Context(), &body)
	if err != nil {
		return err
	}
	return answerWith(w, http.StatusCreated, secret)
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
	Name  string        `json:"name"`
	Tools int           `json:"tools"` // in the list that a client gets
	List  cost          `json:"list"`
	Rules *ProfileRules `json:"rules,omitempty"` // none for a profile that is built in
}

func (a *api) profiles(w http.ResponseWriter, r *http.Request) error {
	out := profileList{Profiles: []shownProfile{}}
	for _, p := range a.opts.Clients.Profiles() {
		raw, _ := a.opts.Pipeline.List(r.Context(), tool.ListTools, p.Name)
		out.Profiles = append(out.Profiles, shownProfile{p.Name, int(gjson.GetBytes(raw, "tools.#").Int()), costOf(raw), p.Rules})
	}
	return answer(w, out)
}

type profileChange struct {
	ProfileRules
	Typed string `json:"typed,omitempty"` // the name of the profile, where clients may see or do more than before
}

func (a *api) saveProfile(w http.ResponseWriter, r *http.Request) error {
	var body profileChange
	if err := decodeBody(r, &body, `{"tools":{"include":["fs"]},"actions":{"exclude":["fs.rm"]}}`); err != nil {
		return err
	}
	return answerNoContent(w, a.opts.Clients.SaveProfile(r.Context(), r.PathValue("name"), strings.TrimSpace(body.Typed), &body.ProfileRules))
}

func (a *api) removeProfile(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Clients.RemoveProfile(r.Context(), r.PathValue("name"), strings.TrimSpace(r.URL.Query().Get("typed"))))
}
