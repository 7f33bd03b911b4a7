//go:build stories && linux

package pages_test

import (
	"os"
	"path/filepath"
	"testing"

	"collie/test/gateway"
)

// A person reads what the doctor finds wrong, repairs it, and sees that everything works.
func TestDoctor(t *testing.T) {
	t.Parallel()
	s := startStory(t)
	s.setServers(gateway.Server{Name: "tea", Flags: []string{"--offer", "echo"}})
	state := filepath.Join(s.gateway.Home, "state")
	if err := os.Chmod(state, 0o755); err != nil {
		t.Fatal(err)
	}
	s.signIn()
	s.click("header nav", "Doctor")
	s.awaitText(`[data-check="state folder"][data-health=warn]`, "chmod 700 "+state)
	s.awaitText(`[data-check="server tea"]`, "tea")
	s.wantFitsScreens("doctor")
	if err := os.Chmod(state, 0o700); err != nil {
		t.Fatal(err)
	}
	s.click("main", "Check again")
	s.awaitText("[data-verdict]", "Everything works.")
	s.setSelect("option[value=zh]", "zh")
	s.awaitText("[data-verdict]", "一切正常。")
	s.awaitText("[data-check=gateway]", "网关")
	s.takePicture("doctor-zh")
	s.wantCleanPage()
}
