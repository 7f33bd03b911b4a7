package web

import (
	"net/http"
	"strings"

	"collie/internal/tool"
)

// This file has the routes that switch tools on and off and change how clients see them.

// switchRoutes returns the routes that list tools for a person and switch them.
func switchRoutes() []Route {
	return []Route{
		{"GET /api/v1/tools/switches", ClassManage, (*api).switches, about{summary: "All tools with their risk, whether they are on, and what they cost a model", out: switchBoard{}}},
		{"POST /api/v1/tools/switches", ClassManage, (*api).switchTool, about{
			summary: "Switch a tool on or off, or an action of it; one of high risk is switched on with its name in typed", in: turning{}, out: none{}, framed: true,
		}},
		{"PUT /api/v1/tools/words", ClassManage, (*api).describeTool, about{
			summary: "Set the alias and the description under which clients see a tool of a server; empty ones show its own", in: toolWords{},
		}},
	}
}

type switchBoard struct {
	Tools []switchedTool `json:"tools"`
	// Cost of the list of all tools now, and in each view.
	List    cost `json:"list"`
	Flat    cost `json:"flat"`
	Grouped cost `json:"grouped"`
	Search  cost `json:"search"`
}

type cost struct {
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"` // estimated
}

func costOf(text []byte) cost { return cost{len(text), tool.Tokens(text)} }

type switchedTool struct {
	Name    string           `json:"name"`
	Title   string           `json:"title"`
	Off     string           `json:"off,omitempty"` // why it is off
	View    string           `json:"view"`
	Why     string           `json:"why"` // who chose the view
	Actions []switchedAction `json:"actions"`
}

type switchedAction struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Risk        string   `json:"risk"`
	Effects     []string `json:"effects"`
	Dangerous   bool     `json:"dangerous"`             // each call needs a person's confirmation
	Off         string   `json:"off,omitempty"`         // why it is off
	Unsupported bool     `json:"unsupported,omitempty"` // cannot be switched on
	Type        string   `json:"type,omitempty"`        // text to type to switch it on
	Cost        cost     `json:"cost"`                  // cost of its definition
	Alias       string   `json:"alias,omitempty"`       // name that clients see instead of its own
	Authored    string   `json:"authored,omitempty"`    // the server's own description, if a person replaced it
	Editable    bool     `json:"editable"`              // alias and description can be changed
}

// switches lists all tools, except actions that only the command line offers.
func (a *api) switches(w http.ResponseWriter, r *http.Request) error {
	out := switchBoard{Tools: []switchedTool{}}
	all := a.opts.Tools("")
	for i := range all {
		t := &all[i]
		s := switchedTool{Name: t.Name, Title: t.Title, Off: t.Off, View: string(t.View), Why: t.Why, Actions: []switchedAction{}}
		for j := range t.Actions {
			if one := &t.Actions[j]; !one.DirectOnly {
				s.Actions = append(s.Actions, actionRow(t.Name, one))
			}
		}
		out.Tools = append(out.Tools, s)
	}
	for view, to := range map[tool.View]*cost{"": &out.List, tool.Flat: &out.Flat, tool.Grouped: &out.Grouped, tool.Search: &out.Search} {
		profile := ""
		if view != "" {
			profile = "@" + string(view)
		}
		raw, _ := a.opts.Pipeline.List(r.Context(), tool.ListTools, profile)
		*to = costOf(raw)
	}
	return answer(w, out)
}

func actionRow(name string, a *tool.Action) switchedAction {
	risk, effects := a.Rated()
	row := switchedAction{
		Name: a.Name, Description: a.Description, Risk: string(risk), Effects: append([]string{}, effects.Names()...), Dangerous: a.Dangerous,
		Off: a.Off, Unsupported: a.Unsupported, Cost: costOf(a.Definition),
		Alias: a.Alias, Authored: a.Authored, Editable: !a.Strict,
	}
	if a.Dangerous || risk.WaitsForDisk() {
		row.Type = name + "." + a.Name
	}
	return row
}

type turning struct {
	Tool   string `json:"tool"`
	Action string `json:"action,omitempty"` // empty for the whole tool
	On     bool   `json:"on"`
	Typed  string `json:"typed,omitempty"` // value of type, if it is not empty
}

// switchTool switches a tool or an action. To switch on a dangerous one, its name must be typed.
func (a *api) switchTool(w http.ResponseWriter, r *http.Request) error {
	var body turning
	if err := decodeBody(r, &body, `{"tool":…,"action":…,"on":true}`); err != nil {
		return err
	}
	if body.On && body.Action != "" {
		if name := a.typedFor(body.Tool, body.Action); strings.TrimSpace(body.Typed) != name && name != "" {
			return &tool.Error{
				Op: "switch", Kind: tool.Unconfirmed, Subject: name, Message: "what can do harm is switched on when its name is typed", Hint: "type: " + name,
			}
		}
	}
	if err := a.opts.Switch(r.Context(), body.Tool, body.Action, body.On); err != nil {
		return err
	}
	return answer(w, none{})
}

// typedFor returns what must be typed to switch an action on; "" for nothing.
func (a *api) typedFor(name, action string) string {
	all := a.opts.Tools("")
	for i := range all {
		for j := range all[i].Actions {
			if one := &all[i].Actions[j]; all[i].Name == name && one.Name == action {
				return actionRow(name, one).Type
			}
		}
	}
	return ""
}

type toolWords struct {
	Tool        string `json:"tool"`
	Action      string `json:"action"`
	Alias       string `json:"alias"`
	Description string `json:"description"`
}

// describeTool sets the alias and description of a server's tool.
func (a *api) describeTool(w http.ResponseWriter, r *http.Request) error {
	var body toolWords
	if err := decodeBody(r, &body, `{"tool":…,"action":…,"alias":…,"description":…}`); err != nil {
		return err
	}
	return answerNoContent(w, a.opts.Describe(r.Context(), body.Tool, body.Action, body.Alias, body.Description))
}
