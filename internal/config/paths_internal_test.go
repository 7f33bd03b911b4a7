package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The folders follow --home, else COLLIE_HOME, else the customs of the operating system.
func TestFindPaths(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		home, goos string
		env        Env
		want       Paths
	}{
		"one home": {home: "/c", goos: "linux", env: EnvOf("HOME=/u", "COLLIE_HOME=/other"), want: Paths{
			Config: "/c", Cache: "/c/cache", State: "/c/state", Data: "/c/data", ConfigFile: "/c/collie.json", Home: "/c",
		}},
		"home by environment": {home: "", goos: "darwin", env: EnvOf("COLLIE_HOME=/c"), want: Paths{
			Config: "/c", Cache: "/c/cache", State: "/c/state", Data: "/c/data", ConfigFile: "/c/collie.json", Home: "/c",
		}},
		"Linux": {home: "", goos: "linux", env: EnvOf("HOME=/u"), want: Paths{
			Config: "/u/.config/collie", Cache: "/u/.cache/collie", State: "/u/.local/state/collie",
			Data: "/u/.local/share/collie", ConfigFile: "/u/.config/collie/collie.json",
		}},
		"XDG, relative ignored": {home: "", goos: "linux", env: EnvOf("HOME=/u", "XDG_CONFIG_HOME=/x", "XDG_STATE_HOME=here"), want: Paths{
			Config: "/x/collie", Cache: "/u/.cache/collie", State: "/u/.local/state/collie",
			Data: "/u/.local/share/collie", ConfigFile: "/x/collie/collie.json",
		}},
		"macOS": {home: "", goos: "darwin", env: EnvOf("HOME=/u"), want: Paths{
			Config: "/u/Library/Application Support/collie", Cache: "/u/Library/Caches/collie/cache",
			State: "/u/Library/Application Support/collie/state", Data: "/u/Library/Application Support/collie",
			ConfigFile: "/u/Library/Application Support/collie/collie.json",
		}},
		"Windows": {home: "", goos: "windows", env: EnvOf("USERPROFILE=/u"), want: Paths{
			Config: "/u/AppData/Roaming/collie", Cache: "/u/AppData/Local/collie/cache",
			State: "/u/AppData/Local/collie/state", Data: "/u/AppData/Local/collie",
			ConfigFile: "/u/AppData/Roaming/collie/collie.json",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := findPaths(tc.home, tc.env, tc.goos)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := findPaths("", Env{}, "linux"); err == nil {
		t.Error("without HOME: no error")
	}
}
