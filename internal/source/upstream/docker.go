package upstream

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"collie/internal/process"
	"collie/internal/source/upstream/entry"
)

// container is what a server started by "docker run" and the like needs, since ending the
// client does not end the container (R-PR-4). Nil for other servers.
type container struct {
	program string // docker, podman or nerdctl
	cidFile string
}

// containerOf reports how a server's container can be killed, and the arguments that make
// that possible.
func containerOf(e *entry.Entry, dir string) (*container, []string) {
	args := reveal(e.Args)
	program := e.Command.Reveal()
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if !e.DockerManaged || dir == "" || !slices.Contains([]string{"docker", "podman", "nerdctl"}, name) {
		return nil, args
	}
	run := slices.Index(args, "run")
	if run < 0 {
		return nil, args
	}
	given := func(flag string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") })
	}
	var extra []string
	c := &container{program: program}
	if !given("--cidfile") {
		c.cidFile = filepath.Join(dir, e.Name+".cid")
		extra = append(extra, "--cidfile", c.cidFile)
	}
	if !given("--label") {
		extra = append(extra, "--label", "collie.server="+e.Name)
	}
	return c, slices.Insert(args, run+1, extra...)
}

// prepare removes what an earlier container left: docker refuses a file that exists.
func (c *container) prepare() error {
	if c == nil || c.cidFile == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.cidFile), 0o700); err != nil {
		return err
	}
	if err := os.Remove(c.cidFile); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// kill ends a container that outlived its client.
func (c *container) kill(env []string) error {
	if c == nil || c.cidFile == "" {
		return nil
	}
	raw, err := os.ReadFile(c.cidFile)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := process.Start(process.Command{Label: "kill container", Name: c.program, Args: []string{"kill", strings.TrimSpace(string(raw))}, Env: env}, nil)
	if err != nil {
		return err
	}
	_ = p.Stdin().Close()
	timer := time.NewTimer(killTime)
	defer timer.Stop()
	buf := make([]byte, 1024)
	go func() { // ends with the process
		for {
			if _, err := p.Stdout().Read(buf); err != nil {
				return
			}
		}
	}()
	select {
	case <-p.Done():
	case <-timer.C:
	}
	return os.Remove(c.cidFile)
}

// killTime bounds how long the end of a container is waited for.
const killTime = 5 * time.Second
