//go:build stories && linux

package pages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/gateway"
)

// A person sees which tools there are and how dangerous they are. Switching a tool of a server or of the notes takes
// effect for clients at once.
func TestTools(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	definitions := filepath.Join(t.TempDir(), "tools.json")
	list := `{"tools":[{"name":"pour","description":"Pours a cup.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"delete_cups","description":"Deletes cups.","inputSchema":{"type":"object"}}]}`
	if err := os.WriteFile(definitions, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	s.setServers(gateway.Server{Name: "tea", Flags: []string{"--definitions", definitions}})
	s.signIn()
	s.click("header nav", "Tools")
	s.click("[data-tool=tea]", "tea")
	s.awaitText("[data-action=pour]", "no risk")
	s.awaitText("[data-action=delete_cups]", "high risk")
	offered := func(name string) bool {
		_, raw := s.gateway.Ask(t, "GET", "/lists/tools", "")
		return gjson.GetBytes(raw, fmt.Sprintf(`tools.#(name==%q)`, name)).Exists()
	}
	press := func(tool, action string) {
		t.Helper()
		s.clickElement(fmt.Sprintf(`document.querySelector('[data-tool=%s] [data-action=%s] [role=switch]')`, tool, action))
	}
	await.Until(t, "it is offered", func() bool { return offered("tea__delete_cups") })
	press("tea", "delete_cups")
	s.awaitTrue(`!document.querySelector('[data-action=delete_cups] [role=switch]').checked`)
	if offered("tea__delete_cups") {
		t.Error("what is switched off is offered")
	}
	press("tea", "delete_cups")
	s.awaitText("[data-action=delete_cups]", "To switch it on, type: tea.delete_cups")
	s.wantFitsScreens("tools")
	if status, _ := s.gateway.Ask(t, "POST", "/tools/switches", `{"tool":"tea","action":"delete_cups","on":true}`); status != 403 {
		t.Errorf("without its name: %d", status)
	}
	s.setField("[data-action=delete_cups] form input", "tea.delete_cups")
	s.click("[data-action=delete_cups] form", "Switch on")
	s.awaitTrue(`document.querySelector('[data-action=delete_cups] [role=switch]').checked`)
	if !offered("tea__delete_cups") {
		t.Error("what is switched on is not offered")
	}

	s.redescribeTool(offered)

	s.click("[data-tool=fs]", "fs")
	press("fs", "read")
	s.awaitTrue(`!document.querySelector('[data-tool=fs] [data-action=read] [role=switch]').checked`)
	press("fs", "read")
	s.awaitTrue(`document.querySelector('[data-tool=fs] [data-action=read] [role=switch]').checked`)
	s.click("[data-tool=fs]", "Switch off")
	s.awaitText("[data-tool=fs] summary", "off")
	if offered("fs") {
		t.Error("a tool that is switched off is offered")
	}
	s.click("[data-tool=fs]", "Switch on")
	await.Until(t, "it is offered", func() bool { return offered("fs") })

	s.clickElement(`document.querySelector('main .grave')`)
	s.awaitTrue(`document.querySelector('[data-tool=fs] [data-action=mv]') && !document.querySelector('[data-action=read]')`)
	s.awaitText("[data-tool=fs] summary", "9 / 9") // of all actions of the tool, not only of the filtered ones
	s.clickElement(`document.querySelector('main .grave')`)
	s.awaitTrue(`document.querySelector('[data-tool=fs] [data-action=read]')`)

	s.setField("[role=search] input", "cups")
	s.awaitTrue(`document.querySelectorAll('[data-tool]').length === 1`)
	s.click("[data-rules]", "Your rules for the notes")
	s.setField("[data-rules] textarea", "Answer in one sentence.")
	s.click("[data-rules]", "Save")
	s.awaitText("[data-rules]", "Saved.")
	s.wantFitsScreens("tools-rules")
	if _, raw := s.gateway.Ask(t, "POST", "/calls", `{"name":"fs.read","args":{"path":"/USER_RULES.md"}}`); !strings.Contains(string(raw), "Answer in one sentence.") {
		t.Errorf("tools do not show the rules: %s", raw)
	}
	s.gateway.Ask(t, "POST", "/calls", `{"name":"fs.write","args":{"path":"/AGENTS.md","markdown":"The person drinks oolong."}}`)
	s.click("header nav", "Agents")
	s.click("[data-rules=memory]", "What models remember")
	s.awaitTrue(`document.querySelector('[data-rules=memory] textarea').value === 'The person drinks oolong.'`)
	s.setField("[data-rules=memory] textarea", "The person drinks sencha.")
	s.click("[data-rules=memory]", "Save")
	s.awaitText("[data-rules=memory]", "Saved.")
	s.wantFitsScreens("memory")
	if _, raw := s.gateway.Ask(t, "POST", "/calls", `{"name":"fs.read","args":{"path":"/AGENTS.md"}}`); !strings.Contains(string(raw), "sencha") {
		t.Errorf("tools do not show the memory: %s", raw)
	}
	s.awaitText("[data-rules=rules]", "Your rules")
	s.click("header nav", "Tools")
	s.click(".size", "What the list costs")
	s.awaitText(".size", "found by searching")
	if all := auditText(t, s.gateway); !strings.Contains(all, "siyuan config set") || !strings.Contains(all, "config set") {
		t.Errorf("it is not on record: %s", all)
	}
	s.wantCleanPage()
}

// redescribeTool gives a tool of a server another name and description, which clients see at once. The pinned definition
// and the risk of the tool stay the same.
func (s *story) redescribeTool(offered func(name string) bool) {
	s.Helper()
	told := func(name string) gjson.Result {
		_, raw := s.gateway.Ask(s.T, "GET", "/lists/tools", "")
		return gjson.GetBytes(raw, fmt.Sprintf(`tools.#(name==%q)`, name))
	}
	s.click("[data-action=delete_cups]", "Edit name and description")
	s.setField("[data-action=delete_cups] form input", "not a name")
	s.click("[data-action=delete_cups] form", "Save")
	s.awaitText("[data-action=delete_cups] [role=alert]", "letters, digits")
	s.setField("[data-action=delete_cups] form input", "pour")
	s.click("[data-action=delete_cups] form", "Save")
	s.awaitText("[data-action=delete_cups] [role=alert]", "another tool of this server")
	s.wantFitsScreens("tools-edit")
	s.loadAxe()
	s.setField("[data-action=delete_cups] form input", "wash_up")
	s.setField("[data-action=delete_cups] form textarea", "Reads what cups there are.")
	s.click("[data-action=delete_cups] form", "Save")
	s.awaitText("[data-action=delete_cups]", "shown as wash_up")
	s.awaitText("[data-action=delete_cups]", "high risk")
	if got := told("tea__wash_up").Get("description").String(); got != "Reads what cups there are." || offered("tea__delete_cups") {
		s.Errorf("the list has %q, and the old name: %t", got, offered("tea__delete_cups"))
	}
	for _, name := range []string{"tea__wash_up", "tea.delete_cups"} {
		if status, raw := s.gateway.Ask(s.T, "POST", "/calls", fmt.Sprintf(`{"name":%q,"args":{}}`, name)); status == 404 {
			s.Errorf("%s cannot be called: %s", name, raw)
		}
	}
	if _, raw := s.gateway.Ask(s.T, "GET", "/mcp/servers/tea/changes", ""); len(gjson.GetBytes(raw, "tools").Map()) > 0 {
		s.Errorf("its definition counts as changed: %s", raw)
	}
	s.click("[data-action=delete_cups]", "Edit name and description")
	s.awaitText("[data-action=delete_cups] form", "Deletes cups.")
	s.click("[data-action=delete_cups] form", "As the server says")
	s.awaitTrue(`!document.querySelector('[data-action=delete_cups] form')`)
	if got := told("tea__delete_cups").Get("description").String(); got != "Deletes cups." {
		s.Errorf("its own description is %q", got)
	}
}
