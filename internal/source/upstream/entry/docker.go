package entry

import (
	"slices"
	"strings"
)

// This file reads the arguments of "docker run".

func isContainer(program string) bool {
	return slices.Contains([]string{"docker", "podman", "nerdctl"}, program)
}

// dockerRun is the part of the arguments of "docker run" that matters here.
type dockerRun struct {
	detach, tty, interactive, remove bool
	image                            string
}

// dockerSwitches are the long flags of "docker run" that take no value.
var dockerSwitches = strings.Fields("--detach --tty --interactive --rm --init --privileged --read-only " +
	"--no-healthcheck --publish-all --sig-proxy --oom-kill-disable --disable-content-trust --quiet --help")

// parseDocker reads the arguments after "docker run".
func parseDocker(args []string) (d dockerRun) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case !strings.HasPrefix(a, "-"):
			d.image = a
			return d
		case strings.HasPrefix(a, "--"):
			name, value, assigned := strings.Cut(a, "=")
			d.set(name, !assigned || value == "true")
			if !assigned && !slices.Contains(dockerSwitches, name) {
				i++
			}
		default:
			if d.short(a[1:]) {
				i++
			}
		}
	}
	return d
}

// short reads a cluster of short flags, such as "it" or "iv". It reports whether the last flag takes the next
// argument as its value.
func (d *dockerRun) short(cluster string) (takesNext bool) {
	for i, r := range cluster {
		switch r {
		case 'i':
			d.set("--interactive", true)
		case 't':
			d.set("--tty", true)
		case 'd':
			d.set("--detach", true)
		case 'P', 'q':
		default: // the rest of the cluster is this flag's value
			return i == len(cluster)-1
		}
	}
	return false
}

func (d *dockerRun) set(flag string, on bool) {
	switch flag {
	case "--detach":
		d.detach = on
	case "--tty":
		d.tty = on
	case "--interactive":
		d.interactive = on
	case "--rm":
		d.remove = on
	}
}

// docker checks that the container's stdio is connected, so that its server can be used.
func (o *object) docker() {
	if !isContainer(program(o.entry.Command.text)) {
		return
	}
	args := texts(o.entry.Args)
	rest, ok := after(args, []string{"run"})
	if !ok {
		if rest, ok = after(args, []string{"container", "run"}); !ok {
			return
		}
	}
	d := parseDocker(rest)
	if d.detach {
		o.fail("/args", "R-CV-5", "a detached container has no stdio; leave out -d")
	}
	if d.tty {
		o.fail("/args", "R-CV-5", "a terminal changes line breaks and mixes the streams; leave out -t")
	}
	if !d.interactive {
		o.fail("/args", "R-CV-5", "without -i the container does not read its input; add it")
	}
	if !d.remove {
		o.warn("/args", "R-CV-5", "without --rm each start leaves a container behind; add it")
	}
}
