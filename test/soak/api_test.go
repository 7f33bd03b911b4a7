//go:build unix

package soak_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"collie/test/gateway"
)

// api is what manages the gateway, as the command line does.
type api struct {
	*verdict
	url, control string
}

// state is a server's state as the gateway reports it.
type state struct {
	Name, State, Reason, Detail, Server string
	PID                                 int
	Starts                              int
}

func (a *api) ask(ctx context.Context, method, path string, into any) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, a.url+"/api/v1/mcp/servers"+path, nil)
	if err != nil {
		a.fail("%v", err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+a.control)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.fail("%s %s: %v", method, path, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(body, into)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		a.fail("%s %s: status %d, %v: %.400s", method, path, resp.StatusCode, err, body)
	}
}

func (a *api) status(ctx context.Context, name string) state { return a.servers(ctx)[name] }

// servers are all, by name.
func (a *api) servers(ctx context.Context) map[string]state {
	var body struct{ Servers []state }
	a.ask(ctx, http.MethodGet, "", &body)
	out := map[string]state{}
	for _, s := range body.Servers {
		out[s.Name] = s
	}
	return out
}

// act does something to a server and returns the state it is in then.
func (a *api) act(ctx context.Context, name, what string) state {
	var body struct{ Server state }
	a.ask(ctx, http.MethodPost, "/"+name+"/"+what, &body)
	return body.Server
}

// spoilt reports whether the gateway rejects the settings.
func (a *api) spoilt(ctx context.Context) bool {
	var body struct{ ConfigError string }
	a.ask(ctx, http.MethodGet, "", &body)
	return body.ConfigError != ""
}

// settings is the file, which is edited as editors do.
type settings struct {
	*verdict
	path, fake string
	text       string // as it was first
	turns      int
}

func readSettings(v *verdict, path, fake string) (*settings, error) {
	text, err := os.ReadFile(path)
	return &settings{verdict: v, path: path, fake: fake, text: string(text)}, err
}

// edit takes the next turn: the guest comes, changes, goes.
func (s *settings) edit() {
	s.turns++
	s.write(false)
}

func (s *settings) write(spoilt bool) {
	text := s.text
	if s.turns%3 != 0 {
		guest := fmt.Sprintf(`"guest":{"command":%q,"args":["--offer","echo","--name","guest","--version","1.0.%d"]},`, s.fake, s.turns)
		text = strings.Replace(text, `"mcpServers":{`, `"mcpServers":{`+guest, 1)
	}
	if spoilt {
		text = text[:len(text)/2]
	}
	next := s.path + ".next"
	err := os.WriteFile(next, []byte(text), 0o600)
	if err == nil {
		err = os.Rename(next, s.path)
	}
	if err != nil {
		s.fail("write the settings: %v", err)
	}
}

// keys returns the keys of a running gateway.
func keys(g *gateway.Gateway, v *verdict, control string) *api { return &api{v, g.URL, control} }
