//go:build stories && linux

package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"collie/internal/mcp/mcptest"
	"collie/internal/source/upstream/registry/registrytest"
	"collie/internal/source/upstream/signin/signintest"
	"collie/test/await"
	"collie/test/gateway"
)

// A person adds servers from the form and from JSON, which is refused until the name is typed, takes over the servers
// of another program, and removes one.
func TestAddServers(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.signIn()
	s.click("header nav", "Servers")
	s.click("main", "Add a server")
	s.setField(".form input[autocomplete]", s.programs.Fake+" --offer echo")
	s.setField("[data-field=name]", "tea")
	s.click(".form", "Check")
	s.awaitText(".preview", "To agree, type: tea")
	s.wantFitsScreens("add")
	s.awaitTrue(`document.querySelector('.form .primary').disabled`)
	s.setField("[data-field=typed]", "tea")
	s.click(".form", "Add")
	s.awaitTrue(`location.hash === '#/servers/tea'`)
	s.awaitText("main", "Switch off")
	s.click("main", "Switch off")
	s.awaitText("main", "It is switched off in the settings.")
	s.click("main", "Switch on")
	s.awaitText("main", "Switch off")

	// The gateway itself refuses an entry whose name was not typed.
	s.eval(`location.hash = '#/servers/+add'`)
	s.clickElement(`[...document.querySelectorAll('[type=radio]')].at(-1)`)
	s.awaitTrue(`document.querySelector('[type=radio][value=json]')`)
	s.clickElement(`document.querySelector('[type=radio][value=json]')`)
	s.setField(".form textarea", fmt.Sprintf(`{"mcpServers": {"coffee": {"command": %q, "args": ["--offer", "pid"]}, /* far */ "far": {"url": "http://127.0.0.1:1/mcp"}}}`, s.programs.Fake))
	s.click(".form", "Check")
	s.awaitText(".preview", "To agree, type: coffee")
	s.eval(`document.querySelector('.form .primary').disabled = false`)
	s.click(".form", "Add")
	s.awaitText("[role=alert]", "type: coffee")
	s.click("[role=alert]", "Dismiss")
	s.setField("[data-field=typed]", "coffee")
	s.click(".form", "Add")
	s.awaitText("[data-server=coffee]", "stdio")
	s.awaitText("[data-server=far]", "http")

	folder := filepath.Join(s.user, ".cursor")
	entry := fmt.Sprintf(`{"mcpServers": {"milk": {"command": %q, "env": {"API_TOKEN": "sk-0123456789abcdefghij0123"}}, "tea": {"command": %[1]q, "args": ["--offer", "echo"]}}}`, s.programs.Fake)
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "mcp.json"), []byte(entry), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.click("main", "Take over servers")
	s.click("main", "Cursor")
	s.awaitText("[data-import=milk]", "Secrets that move to the secret store")
	s.awaitText("[data-import=tea]", "is there already")
	s.wantFitsScreens("import")
	s.setField("[data-field=typed]", "cursor")
	s.click(".form", "Take over")
	s.awaitText("[data-server=milk]", "stdio")
	settings, err := os.ReadFile(s.settings)
	if err != nil || strings.Contains(string(settings), "sk-0123") || !strings.Contains(string(settings), "${secret:") {
		t.Errorf("the secret is not in the store: %s %v", settings, err)
	}

	s.eval(`window.confirm = () => true`)
	s.click("[data-server=milk] h2", "milk")
	s.click("main", "Remove")
	s.awaitTrue(`location.hash === '#/servers' && !document.querySelector('[data-server=milk]')`)
	all := auditText(t, s.gateway)
	for _, name := range []string{"mcp add", "mcp import", "mcp disable", "mcp enable", "mcp remove"} {
		if !strings.Contains(all, `"`+name+`"`) {
			t.Errorf("%s is not on record", name)
		}
	}
	s.wantCleanPage()
}

// A person changes what a server runs. Its secrets are not shown and are kept. A new argument requires that the name
// is typed; a harmless change does not. The form works in Chinese too.
func TestEditServer(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.setServers(gateway.Server{Name: "tea", Flags: []string{"--offer", "echo"}, More: `"env":{"TEA_KEY":"geheim-eins"}`})
	s.signIn()
	s.click("header nav", "Servers")
	s.click("[data-server=tea] h2", "tea")
	s.click("main", "Edit")
	s.awaitTrue(`document.querySelector('[data-field=env]')?.value === 'TEA_KEY=***' && document.querySelector('[data-field=args]').value === '--offer\necho'`)
	if page := s.eval(`document.documentElement.outerHTML`).(string); strings.Contains(page, "geheim") {
		t.Error("a secret is in the page")
	}
	s.wantFitsScreens("edit")
	s.setField("[data-field=args]", "--offer\npid")
	s.click("[data-edit]", "Save")
	s.awaitText(".preview", "To agree, type: tea")
	s.awaitTrue(`document.querySelector('[data-edit] .primary').disabled`)
	s.wantFitsScreens("edit-agree")
	s.setField("[data-field=typed]", "tea")
	s.click("[data-edit]", "Save")
	s.awaitTrue(`!document.querySelector('[data-edit]')`)
	settings, err := os.ReadFile(s.settings)
	if text := strings.Join(strings.Fields(string(settings)), ""); err != nil || !strings.Contains(text, `"--offer","pid"`) || !strings.Contains(text, `"TEA_KEY":"geheim-eins"`) {
		t.Errorf("the settings are %s, %v", settings, err)
	}
	s.awaitText("main dl", "--offer pid")

	s.setSelect("option[value=zh]", "zh")
	s.click("main", "编辑")
	s.clickElement(`document.querySelector('[data-edit] summary')`)
	s.setField("[data-field=rest]", `{"description": "茶"}`)
	s.wantFitsScreens("edit-zh")
	s.click("[data-edit]", "保存")
	s.awaitTrue(`!document.querySelector('[data-edit]')`)
	if settings, err := os.ReadFile(s.settings); err != nil || !strings.Contains(string(settings), "茶") {
		t.Errorf("the settings are %s, %v", settings, err)
	}
	if !strings.Contains(auditText(t, s.gateway), `"mcp edit"`) {
		t.Error("the change is not on record")
	}
	s.wantCleanPage()
}

// wantFitsScreens checks the page with axe on a narrow and a wide screen, and that nothing is wider than the screen.
func (s *story) wantFitsScreens(name string) {
	s.Helper()
	for _, width := range []int64{360, 1200} {
		s.perform(chromedp.EmulateViewport(width, 800))
		s.loadAxe()
		s.wantAccessible(fmt.Sprintf("%s at %d", name, width))
		if wide := s.eval(`Math.max(...[...document.querySelectorAll('html, .sheet')].map(e => e.scrollWidth))`).(float64); wide > float64(width) {
			s.Errorf("%s: %v pixels wide of %d", name, wide, width)
		}
		s.takePicture(fmt.Sprintf("%s-%d", name, width))
	}
}

// A person signs in, on the page of a server, at the server.
func TestSignInAtServer(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	inner, err := mcptest.Handler("--offer", "echo")
	if err != nil {
		t.Fatal(err)
	}
	p := signintest.New(t, signintest.Behaviour{})
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); !p.Valid(token) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+p.URL+`/.well-known/oauth-protected-resource/mcp"`)
			http.Error(w, "sign in first", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		far.CloseClientConnections()
		far.Close()
	})
	p.Change(func(b *signintest.Behaviour) { b.Resource = far.URL + "/mcp" })
	s.signIn()
	s.click("header nav", "Servers")
	s.click("main", "Add a server")
	s.clickElement(`document.querySelector('[type=radio][value=address]')`)
	s.setField(".form input[type=url]", far.URL+"/mcp")
	s.setField("[data-field=name]", "far")
	s.click(".form", "Check")
	s.awaitText(".form", "This is added to")
	s.click(".form", "Add")
	s.awaitText("main", "A person has to sign in")
	s.click(".signin-box", "Sign in")
	s.awaitText(".signin-box", "Open the page where you sign in")
	s.wantFitsScreens("signin")
	address := s.eval(`document.querySelector('.signin-box a').href`).(string)
	if err := p.Browser(nil)(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	s.awaitText(".signin-box", "You are signed in.")
	s.awaitText("main", "It runs, and can be called.")
	await.Until(t, "its tools are there", func() bool { return s.gateway.Servers(t)["far"].Tools == 1 })
	s.wantCleanPage()
}

// A person finds a server in the registry, fills in what it asks for, and adds it with its version pinned and its
// secret in the secret store. A registry that cannot be reached is reported.
func TestRegistry(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "npx"), []byte("#!/bin/sh\nexec '"+s.programs.Fake+"' --offer echo\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.programs.Env = append(s.programs.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	s.restartGateway()
	s.sections = append(s.sections, `"mcp":{"registry":"http://`+freePort(t)+`"}`)
	s.setServers()
	s.signIn()
	s.click("header nav", "Servers")
	s.click("main", "Add a server")
	s.clickElement(`document.querySelector('[type=radio][value=registry]')`)
	s.setField("[data-field=words]", "weather")
	s.click("main", "Search the registry")
	s.awaitTrue(`document.querySelector('main [role=alert]')?.innerText.includes('registry')`)
	s.wantFitsScreens("registry-gone")

	s.sections[len(s.sections)-1] = `"mcp":{"registry":"` + registrytest.Serve(t, registrytest.Weather) + `"}`
	s.setServers()
	await.Until(t, "the other registry", func() bool {
		status, _ := s.gateway.Ask(t, http.MethodGet, "/mcp/registry?words=weather", "")
		return status == http.StatusOK
	})
	s.click("main", "Search the registry")
	s.awaitText(`[data-found="io.github.example/mcp-server-weather"]`, "Weather of today and tomorrow")
	s.wantFitsScreens("registry")
	s.click("main", "Take over: io.github.example/mcp-server-weather")
	s.awaitText("[data-add=server]", "@example/weather@1.2.3")
	s.setField("[data-field=WEATHER_API_KEY]", "sk-0123456789abcdefghij0123")
	s.click("[data-add=server]", "Check")
	s.awaitText(".preview", "io.github.example/mcp-server-weather@1.2.3")
	s.awaitText(".preview", "${secret:WEATHER_API_KEY}")
	s.wantFitsScreens("registry-add")
	s.setField("[data-field=typed]", "weather")
	s.click("[data-add=server]", "Add")
	s.awaitTrue(`location.hash === '#/servers/weather'`)
	s.awaitText("main", "It runs, and can be called.")
	raw, err := os.ReadFile(s.settings)
	if err != nil || strings.Contains(string(raw), "sk-0123") || !strings.Contains(string(raw), "@example/weather@1.2.3") {
		t.Errorf("the settings are %s (%v)", raw, err)
	}
	out, problem, code := s.programs.Run(t, s.gateway.Home, "secret", "list", "--config", s.settings)
	if code != 0 || !strings.Contains(out, "WEATHER_API_KEY") {
		t.Errorf("the secret is not in the store: %s %s", out, problem)
	}
	if status, answer := s.gateway.Ask(t, http.MethodPost, "/mcp/servers", `{"json":"{\"command\":\"x\",\"env\":{\"A\":\"${secret:WEATHER_API_KEY}\"}}","name":"x","typed":"x","secrets":{"WEATHER_API_KEY":"other"}}`); status != http.StatusConflict {
		t.Errorf("another server's secret is replaced: %d %s", status, answer)
	}
	s.wantCleanPage()
}
