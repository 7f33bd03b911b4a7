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

// api calls the management API of the gateway, as the command line does.
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

// request sends a request about servers and decodes the answer into into. A failure is recorded in the verdict.
func (a *api) request(ctx context.Context, method, path string, into any) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, a.url+"/api/v1/mcp/servers"+path, nil)
	if err != nil {
		a.recordWrongf("%v", err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+a.control)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.recordWrongf("%s %s: %v", method, path, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(body, into)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		a.recordWrongf("%s %s: status %d, %v: %.400s", method, path, resp.StatusCode, err, body)
	}
}

// status returns the state of a server.
func (a *api) status(ctx context.Context, name string) state { return a.servers(ctx)[name] }

// servers returns the states of all servers by name.
func (a *api) servers(ctx context.Context) map[string]state {
	var body struct{ Servers []state }
	a.request(ctx, http.MethodGet, "", &body)
	out := map[string]state{}
	for _, s := range body.Servers {
		out[s.Name] = s
	}
	return out
}

// actOnServer does something to a server, such as "restart", and returns the state that the server is in then.
func (a *api) actOnServer(ctx context.Context, name, what string) state {
	var body struct{ Server state }
	a.request(ctx, http.MethodPost, "/"+name+"/"+what, &body)
	return body.Server
}

// rejectsSettings reports whether the gateway rejects the settings.
func (a *api) rejectsSettings(ctx context.Context) bool {
	var body struct{ ConfigError string }
	a.request(ctx, http.MethodGet, "", &body)
	return body.ConfigError != ""
}

// settings is the settings file of the gateway, which chaos edits as an editor would. The guest is a server that
// comes and goes.
type settings struct {
	*verdict
	path, fake string
	text       string // the original text
	turns      int    // edits so far
}

// readSettings reads the file at path. fake is the program of the guest.
func readSettings(v *verdict, path, fake string) (*settings, error) {
	text, err := os.ReadFile(path)
	return &settings{verdict: v, path: path, fake: fake, text: string(text)}, err
}

// settingsVersions is how many versions of the settings follow each other: with the guest, with another guest, without it.
const settingsVersions = 3

// edit makes the next edit: in turn, the guest is added, changed and removed.
func (s *settings) edit() {
	s.turns++
	s.write(false)
}

// write replaces the file. With spoilt, only half of the text is written.
func (s *settings) write(spoilt bool) {
	text := s.text
	if s.turns%settingsVersions != 0 {
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
		s.recordWrongf("write the settings: %v", err)
	}
}

// newAPI returns the API of a running gateway. control is its control key.
func newAPI(g *gateway.Gateway, v *verdict, control string) *api { return &api{v, g.URL, control} }
