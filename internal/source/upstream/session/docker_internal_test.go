//go:build unix

package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"collie/internal/source/upstream/entry"
)

// Two containers of one server, during a restart or for both eras, have different ids: ending one does not end the
// other.
func TestContainersOfOneServer(t *testing.T) {
	t.Parallel()
	bin, run := t.TempDir(), t.TempDir()
	docker, killed := filepath.Join(bin, "docker"), filepath.Join(bin, "killed")
	script := "#!/bin/sh\necho \"$@\" >> " + killed + "\n"
	syscall.ForkLock.RLock() // a child that is forked meanwhile would hold it open, and it could not be run
	err := os.WriteFile(docker, []byte(script), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"command": docker, "args": []string{"run", "-i", "image"}})
	if err != nil {
		t.Fatal(err)
	}
	e, _ := entry.Parse("s", raw, entry.Options{Dir: bin})
	begin := func(id string) *container {
		c, _ := containerOf(&e, run)
		if err := c.prepare(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(c.cidFile); err == nil {
			t.Errorf("the id file of %s is there already", id)
		}
		if err := os.WriteFile(c.cidFile, []byte(id), 0o600); err != nil { // as docker does
			t.Fatal(err)
		}
		return c
	}
	first := begin("first")
	begin("second")
	if err := first.kill(os.Environ()); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(killed); err != nil || string(got) != "kill first\n" {
		t.Errorf("docker was told %q (%v), want to kill the first", got, err)
	}
}

// The id files of gateways that are gone are removed.
func TestContainerIDsOfTheGone(t *testing.T) {
	t.Parallel()
	run := t.TempDir()
	old := filepath.Join(run, "s.999999999-X.cid")
	if err := os.WriteFile(old, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, _ := entry.Parse("s", json.RawMessage(`{"command":"docker","args":["run","-i","image"]}`), entry.Options{Dir: run})
	c, _ := containerOf(&e, run)
	if err := c.prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the file of a gateway that is gone stays: %v", err)
	}
}

// Only "docker run" starts a container. A run further on belongs to another program.
func TestContainerOfRunOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for args, want := range map[string]string{
		"run -i image":                           "run --cidfile ID --label collie.server=s -i image",
		"--debug container run -i image":         "--debug container run --cidfile ID --label collie.server=s -i image",
		"run --label=a -i image run":             "run --cidfile ID --label=a -i image run",
		"exec -i box uv run server.py":           "exec -i box uv run server.py",
		"--context remote run -i image":          "--context remote run --cidfile ID --label collie.server=s -i image",
		"-H ssh://h --tls run image":             "-H ssh://h --tls run --cidfile ID --label collie.server=s image",
		"compose run server":                     "compose run server",
		"start -ai box":                          "start -ai box",
		"run --cidfile=x --label a=b -i image":   "run --cidfile=x --label a=b -i image",
		"container exec -i box npm run --silent": "container exec -i box npm run --silent",
	} {
		for _, program := range []string{"docker", "/usr/bin/podman", "DOCKER.EXE"} {
			raw, err := json.Marshal(map[string]any{"command": program, "args": strings.Fields(args)})
			if err != nil {
				t.Fatal(err)
			}
			e, _ := entry.Parse("s", raw, entry.Options{Dir: dir})
			c, list := containerOf(&e, dir)
			got := strings.Join(list, " ")
			if c != nil && c.cidFile != "" {
				got = strings.Replace(got, c.cidFile, "ID", 1)
			}
			if got != want {
				t.Errorf("%s %s is started with %s", program, args, got)
			}
		}
	}
}
