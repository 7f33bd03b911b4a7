package entry

import (
	"slices"
	"strings"
)

// This file reads the arguments of "docker run".

// isContainer reports whether a program runs containers.
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
			d.setFlag(name, !assigned || value == "true")
			if !assigned && !slices.Contains(dockerSwitches, name) {
				i++
			}
		default:
			if d.readShortFlags(a[1:]) {
				i++
			}
		}
	}
	return d
}

// readShortFlags reads a cluster of short flags, such as "it" or "iv". It reports whether the last flag takes the next
// argument as its value.
func (d *dockerRun) readShortFlags(cluster string) (takesNext bool) {
	for i, r := range cluster {
		switch r {
		case 'i':
			d.setFlag("--interactive", true)
		case 't':
			d.setFlag("--tty", true)
		case 'd':
			d.setFlag("--detach", true)
		case 'P', 'q':
		default: // the rest of the cluster is this flag's value
			return i == len(cluster)-1
		}
	}
	return false
}

// setFlag notes a flag of those that matter here.
func (d *dockerRun) setFlag(flag string, on bool) {
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

// checkDocker checks that the container's stdio is connected, so that its server can be used.
func (o *object) checkDocker() {
	if !isContainer(programName(o.entry.Command.text)) {
		return
	}
	args := texts(o.entry.Args)
	rest, ok := argumentsAfter(args, []string{"run"})
	if !ok {
		if rest, ok = argumentsAfter(args, []string{"container", "run"}); !ok {
			return
		}
	}
	d := parseDocker(rest)
	if d.detach {
		o.fail("/args", ruleDocker, "a detached container has no stdio; leave out -d")
	}
	if d.tty {
		o.fail("/args", ruleDocker, "a terminal changes line breaks and mixes the streams; leave out -t")
	}
	if !d.interactive {
		o.fail("/args", ruleDocker, "without -i the container does not read its input; add it")
	}
	if !d.remove {
		o.warn("/args", ruleDocker, "without --rm each start leaves a container behind; add it")
	}
}
