//go:build stories && linux

package pages_test

import (
	"testing"

	"collie/test/gateway"
)

// A person sees which tool lists of servers are cached, and clears one of them and all.
func TestCaches(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.setServers(gateway.Server{Name: "tea", Flags: []string{"--offer", "echo,pid"}}, gateway.Server{Name: "milk", Flags: []string{"--offer", "echo"}})
	s.signIn()
	s.click("header nav", "Cache")
	s.awaitText("[data-cached=tea]", "Tools: 2")
	s.awaitText("[data-cached=milk]", "Tools: 1")
	s.wantFitsScreens("cache")
	s.click("[data-cached=tea]", "Clear: tea")
	s.awaitTrue(`!document.querySelector('[data-cached=tea]') && document.querySelector('[data-cached=milk]')`)
	s.click("main", "Clear all lists")
	s.awaitText("main", "Nothing is kept.")
	s.wantCleanPage()
}
