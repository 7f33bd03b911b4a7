package web

import (
	"context"
	"net/http"

	"collie/internal/agent/library"
)

// Agents are the files that a person writes for agents.
type Agents interface {
	// Library returns what a turn would use of them.
	Library() *library.Library
	// Source returns the text of one of the person's own files, and its path.
	Source(kind library.Kind, name string) (text, file string, err error)
	// Put and Delete change one of the person's own files, and return its path.
	Put(ctx context.Context, kind library.Kind, name, text string) (file string, err error)
	Delete(ctx context.Context, kind library.Kind, name string) (file string, err error)
}

// agentRoutes returns the routes of agents. They need a person: what stands in these files is told to models as the person's own words.
func agentRoutes() []Route {
	return []Route{
		{"GET /api/v1/agents", ClassManage, (*api).agents, about{summary: "Agents, skills and context entries, and the files that are wrong", out: agentList{}}},
		{"GET /api/v1/agents/{kind}/{name}", ClassManage, (*api).agentFile, about{summary: "The file of an agent, a skill or an entry; kind is agents, skills or context", out: agentText{}}},
		{"PUT /api/v1/agents/{kind}/{name}", ClassManage, (*api).putAgentFile, about{
			summary: "Write such a file; a text that could not be used is refused with line and field", in: newAgentText{}, out: agentText{},
		}},
		{"DELETE /api/v1/agents/{kind}/{name}", ClassManage, (*api).deleteAgentFile, about{summary: "Delete such a file", out: agentText{}}},
		{"POST /api/v1/agents/matches", ClassManage, (*api).matches, about{summary: "Which context entries a text would bring in", in: matchRequest{}, out: matchList{}}},
	}
}

type agentList struct {
	Agents   []library.Agent   `json:"agents"`
	Skills   []library.Skill   `json:"skills"`
	Context  []library.Entry   `json:"context"`
	Rules    string            `json:"rules"` // path of a trusted project's AGENTS.md
	Problems []library.Problem `json:"problems"`
}

type agentText struct {
	File string `json:"file"`
	Text string `json:"text"`
}

type newAgentText struct {
	Text string `json:"text"`
}

type matchRequest struct {
	Text  string `json:"text"`
	Agent string `json:"agent"`
}

type matchList struct {
	Matches []match `json:"matches"`
}

type match struct {
	Name    string `json:"name"`
	Keyword string `json:"keyword"`
}

func (a *api) agents(w http.ResponseWriter, _ *http.Request) error {
	l := a.opts.Agents.Library()
	return answer(w, agentList{
		Agents: append([]library.Agent{}, l.Agents...), Skills: append([]library.Skill{}, l.Skills...),
		Context: append([]library.Entry{}, l.Entries...), Rules: l.RulesFile, Problems: append([]library.Problem{}, l.Problems...),
	})
}

// agentFileOf returns which file a request is about.
func agentFileOf(r *http.Request) (kind library.Kind, name string) {
	return library.Kind(r.PathValue("kind")), r.PathValue("name")
}

func (a *api) agentFile(w http.ResponseWriter, r *http.Request) error {
	text, file, err := a.opts.Agents.Source(agentFileOf(r))
	if err != nil {
		return err
	}
	return answer(w, agentText{File: file, Text: text})
}

func (a *api) putAgentFile(w http.ResponseWriter, r *http.Request) error {
	var req newAgentText
	if err := decodeBody(r, &req, `{"text":…}`); err != nil {
		return err
	}
	kind, name := agentFileOf(r)
	file, err := a.opts.Agents.Put(r.Context(), kind, name, req.Text)
	if err != nil {
		return err
	}
	return answer(w, agentText{File: file, Text: req.Text})
}

func (a *api) deleteAgentFile(w http.ResponseWriter, r *http.Request) error {
	kind, name := agentFileOf(r)
	text, _, err := a.opts.Agents.Source(kind, name)
	if err != nil {
		return err
	}
	file, err := a.opts.Agents.Delete(r.Context(), kind, name)
	if err != nil {
		return err
	}
	return answer(w, agentText{File: file, Text: text})
}

func (a *api) matches(w http.ResponseWriter, r *http.Request) error {
	var req matchRequest
	if err := decodeBody(r, &req, `{"text":…,"agent":…}`); err != nil {
		return err
	}
	out := matchList{Matches: []match{}}
	for _, m := range a.opts.Agents.Library().Matching(req.Agent, []string{req.Text}) {
		out.Matches = append(out.Matches, match{m.Name, m.Keyword})
	}
	return answer(w, out)
}
