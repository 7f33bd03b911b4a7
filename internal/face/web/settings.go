package web

import (
	"context"
	"encoding/json"
	"net/http"
)

// Settings gives access to the settings that can be changed in the pages.
type Settings interface {
	Settings() (SettingList, error)
	// Set writes a setting into the settings file. It returns when the setting is in effect, unless that needs a
	// restart. An error describes what is wrong with the value.
	Set(ctx context.Context, path string, value json.RawMessage) error
	// Unset removes a setting from the settings file, so that its default applies.
	Unset(ctx context.Context, path string) error
	// Listen changes the address of the gateway in the settings and switches to it. If that address cannot be used,
	// nothing changes.
	Listen(ctx context.Context, want Listener) (Moved, error)
}

// Listener is where a gateway listens. Empty members have their defaults.
type Listener struct {
	Addr    string `json:"addr"`              // HOST:PORT
	TLSCert string `json:"tlsCert,omitempty"` // path of a PEM file
	TLSKey  string `json:"tlsKey,omitempty"`
}

// Moved is the new address of a gateway.
type Moved struct {
	URL string `json:"url"`
	// Everywhere reports that the gateway can be reached under any name of its machine, at the port of URL.
	Everywhere bool `json:"everywhere"`
	// Link is the address of the pages there, with which one browser can sign in.
	Link string `json:"link"`
}

// SettingList is the settings that can be changed.
type SettingList struct {
	File     string    `json:"file"` // file that they are written to
	Settings []Setting `json:"settings"`
}

// Setting is one setting.
type Setting struct {
	Path    string          `json:"path"`              // such as http.addr
	Kind    string          `json:"kind"`              // text, list, switch, choice, or shown, which cannot be changed here
	Choices []string        `json:"choices,omitempty"` // possible values of a choice
	Value   json.RawMessage `json:"value"`             // secrets are hidden
	Source  string          `json:"source,omitempty"`  // file or flag that sets it; empty for a default
	Live    bool            `json:"live"`              // a change takes effect at once, else after a restart
}

// settingRoutes returns the routes of the settings.
func settingRoutes() []Route {
	return []Route{
		{"GET /api/v1/settings", ClassManage, (*api).settings, about{summary: "Settings of the gateway, with the file that sets each", out: SettingList{}}},
		{"PUT /api/v1/settings/{path}", ClassManage, (*api).setSetting, about{summary: "Write a setting into the settings file; an error says what is wrong with the value", in: settingValue{}, framed: true}},
		{"DELETE /api/v1/settings/{path}", ClassManage, (*api).unsetSetting, about{summary: "Remove a setting from the settings file, so that its default applies", framed: true}},
		{"PUT /api/v1/listener", ClassManage, (*api).listen, about{
			summary: "Change address, port and TLS: the gateway opens the new listener, answers where it is, and ends the old one; if it cannot be opened nothing changes", in: Listener{}, out: Moved{},
		}},
	}
}

func (a *api) listen(w http.ResponseWriter, r *http.Request) error {
	var body Listener
	if err := decodeBody(r, &body, `{"addr":…}`); err != nil {
		return err
	}
	moved, err := a.opts.Settings.Listen(r.Context(), body)
	if err != nil {
		return err
	}
	return answer(w, moved)
}

type settingValue struct {
	Value json.RawMessage `json:"value"`
}

func (a *api) settings(w http.ResponseWriter, _ *http.Request) error {
	list, err := a.opts.Settings.Settings()
	if err != nil {
		return err
	}
	return answer(w, list)
}

func (a *api) setSetting(w http.ResponseWriter, r *http.Request) error {
	var body settingValue
	if err := decodeBody(r, &body, `{"value":…}`); err != nil {
		return err
	}
	return answerNoContent(w, a.opts.Settings.Set(r.Context(), r.PathValue("path"), body.Value))
}

func (a *api) unsetSetting(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Settings.Unset(r.Context(), r.PathValue("path")))
}
