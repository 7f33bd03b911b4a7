package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"collie/internal/process"
	"collie/internal/source/upstream/entry"
)

// This file ends containers, which live on when the program that started them ends.

// container identifies the container of a server started by "docker run" or the like, which does not end with its
// client process. It is nil for other servers.
type container struct {
	program string // docker, podman or nerdctl
	server  string
	// cidFile is the file into which the program writes the container's id. Each start has its own: a server has two
	// containers when it restarts, when both eras are in use, or when two gateways share a home, and ending one must
	// not end the other.
	cidFile string
}

// containerOf returns how a server's container can be killed, and the server's arguments, extended to make that
// possible. It returns nil and the arguments as they are if the server does not run in a container or has none that
// should be killed. A container whose settings already have a --cidfile is left to the user: kill then does nothing.
func containerOf(e *entry.Entry, dir string) (*container, []string) {
	args := entry.Reveal(e.Args)
	program := e.Command.Reveal()
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe")
	if !e.DockerManaged || dir == "" || !slices.Contains([]string{"docker", "podman", "nerdctl"}, name) {
		return nil, args
	}
	run := subcommandIndex(args)
	if run == len(args) || args[run] != "run" {
		return nil, args
	}
	hasFlag := func(flag string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") })
	}
	var extra []string
	c := &container{program: program}
	if !hasFlag("--cidfile") {
		c.server = e.Name
		c.cidFile = filepath.Join(dir, fmt.Sprintf("%s.%d-%s.cid", e.Name, os.Getpid(), rand.Text()[:8]))
		extra = append(extra, "--cidfile", c.cidFile)
	}
	if !hasFlag("--label") {
		extra = append(extra, "--label", "collie.server="+e.Name)
	}
	return c, slices.Insert(args, run+1, extra...)
}

// valueFlags are flags of docker, podman and nerdctl before the subcommand that have a value in the next word.
const valueFlags = " -H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --connection --url --identity --root --runroot " +
	"--storage-driver --storage-opt --runtime --tmpdir --module -n --namespace -a --address --snapshotter "

// subcommandIndex returns the index of docker's subcommand, without "container". A run further on is not docker's, as in "docker exec
// box npm run server".
func subcommandIndex(args []string) int {
	i := 0
	for i < len(args) && (args[i] == "container" || strings.HasPrefix(args[i], "-")) {
		if strings.Contains(valueFlags, " "+args[i]+" ") {
			i++
		}
		i++
	}
	return min(i, len(args))
}

// prepare creates the folder of the id file, and removes the id files that gateways which are gone left there for this server.
func (c *container) prepare() error {
	if c == nil || c.cidFile == "" {
		return nil
	}
	dir := filepath.Dir(c.cidFile)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, file := range list {
		rest, ok := strings.CutPrefix(file.Name(), c.server+".")
		if !ok || !strings.HasSuffix(rest, ".cid") {
			continue
		}
		gateway, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(gateway); err == nil && !process.Alive(pid) {
			_ = os.Remove(filepath.Join(dir, file.Name())) // harmless if it stays
		}
	}
	return nil
}

// kill runs "docker kill" for the container whose id is in the id file, and removes the file. It does nothing if there
// is no file: then no container was started.
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
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // kills the command if it still runs
	return errors.Join(p.Stop(ctx), os.Remove(c.cidFile))
}

// killTime bounds the wait for the command that kills a container.
const killTime = 5 * time.Second
