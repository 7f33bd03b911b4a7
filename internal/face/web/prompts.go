package web

import (
	"encoding/json"
	"net/http"

	"collie/internal/tool"
)

type promptList struct {
	Prompts []prompt `json:"prompts"`
}

// prompt is a prompt of a server, as it describes it.
type prompt struct {
	Name        string           `json:"name"` // SERVER:PROMPT
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []promptArgument `json:"arguments,omitempty"`
}

type promptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// promptRequest is the body of POST /api/v1/prompts.
type promptRequest struct {
	Name    string            `json:"name"` // SERVER:PROMPT, or as in the list of MCP clients
	Args    map[string]string `json:"args"`
	Profile string            `json:"profile"`
}

// resourceRequest is the body of POST /api/v1/resources.
type resourceRequest struct {
	URI     string `json:"uri"`
	Profile string `json:"profile"`
}

func (a *api) prompts(w http.ResponseWriter, r *http.Request) error {
	if err := a.await(r); err != nil {
		return err
	}
	profile, err := a.opts.Identify(r).profile(r.URL.Query().Get("profile"))
	if err != nil {
		return err
	}
	out := promptList{Prompts: []prompt{}}
	for _, p := range a.opts.Prompts(profile) {
		var one prompt
		_ = json.Unmarshal(p.Definition, &one) // what a server describes wrongly is not described
		one.Name = p.FullName()
		out.Prompts = append(out.Prompts, one)
	}
	return answer(w, out)
}

// getPrompt fills in a prompt, through the pipeline.
func (a *api) getPrompt(w http.ResponseWriter, r *http.Request) error {
	var req promptRequest
	if err := decodeBody(r, &req, `{"name":"SERVER:PROMPT","args":{"NAME":"text"}}`); err != nil {
		return err
	}
	if req.Args == nil {
		req.Args = map[string]string{}
	}
	args, err := encode(req.Args)
	if err != nil {
		return err
	}
	return a.ask(w, r, req.Profile, tool.Request{Kind: tool.KindPrompt, Name: req.Name, Args: args})
}

// readResource reads a resource, through the pipeline.
func (a *api) readResource(w http.ResponseWriter, r *http.Request) error {
	var req resourceRequest
	if err := decodeBody(r, &req, `{"uri":…}`); err != nil {
		return err
	}
	return a.ask(w, r, req.Profile, tool.Request{Kind: tool.KindRead, Name: req.URI, Args: json.RawMessage("{}")})
}

// ask sends q through the pipeline for the sender of r, and answers with the result as it is.
func (a *api) ask(w http.ResponseWriter, r *http.Request, profile string, q tool.Request) error {
	who := a.opts.Identify(r)
	profile, err := who.profile(profile)
	if err != nil {
		return err
	}
	q.Profile, q.Origin, q.Principal, q.Client = profile, who.Origin, who.Principal, "collie chat"
	result, err := a.opts.Pipeline.Do(r.Context(), q)
	if err != nil {
		return err
	}
	return answer(w, result.Raw)
}
