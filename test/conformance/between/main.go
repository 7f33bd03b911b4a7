// Command between is the client that the official suite starts for each scenario of its client
// role. It puts a Collie in front of the suite's server, signs in there as a person would, and
// has the everything-client of the Go SDK talk to that Collie:
//
//	between -collie PROGRAM -client PROGRAM URL
//
// It exits with the code of the client, or with 1 where it did not come to that.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// maxSignIns is how often a person signs in before they give up on a server.
const maxSignIns = 2

func main() {
	collie := flag.String("collie", "", "the `PROGRAM` of Collie")
	client := flag.String("client", "", "the `PROGRAM` of the client")
	flag.Parse()
	code, err := run(context.Background(), *collie, *client, flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "between:", err)
	}
	os.Exit(code)
}

// scenario is what the suite says in the environment.
type scenario struct {
	name  string
	given struct { // MCP_CONFORMANCE_CONTEXT: what was arranged by hand with the authorization server
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
}

func readScenario() (s scenario, err error) {
	s.name = os.Getenv("MCP_CONFORMANCE_SCENARIO")
	if given := os.Getenv("MCP_CONFORMANCE_CONTEXT"); given != "" {
		err = json.Unmarshal([]byte(given), &s.given)
	}
	return s, err
}

func run(ctx context.Context, collie, client, url string) (code int, err error) {
	s, err := readScenario()
	if err != nil {
		return 1, err
	}
	home, err := os.MkdirTemp("", "between")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(home)
	g := &gateway{program: collie, home: home, config: filepath.Join(home, "collie.json")}
	if err := g.configure(ctx, s, url); err != nil {
		return 1, err
	}
	address, stop, err := g.serve(ctx)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for signIns := 0; ; signIns++ {
		waits, err := g.wantsSignIn(ctx)
		switch {
		case err != nil:
			return 1, err
		case !waits && signIns > 0, waits && signIns == maxSignIns:
			return code, nil
		case waits:
			if err := g.signIn(ctx); err != nil {
				return 1, err
			}
		}
		if code, err = talk(ctx, client, s.name, address); err != nil {
			return 1, err
		}
	}
}

// talk runs the client once.
func talk(ctx context.Context, program, scenario, address string) (code int, err error) {
	cmd := exec.CommandContext(ctx, program, address)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "MCP_CONFORMANCE_SCENARIO="+known(scenario))
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// known is the scenario as the client knows it. How Collie signs in is none of its business: it
// lists the tools and calls one, so that any scenario of that kind does for those that it lacks.
func known(scenario string) string {
	if strings.HasPrefix(scenario, "auth/") {
		return "auth/metadata-default"
	}
	return scenario
}

// discardRest reads what a program still writes, so that it does not wait for us.
func discardRest(r io.Reader) { _, _ = io.Copy(io.Discard, r) }

// terminate asks a program to end and waits for it.
func terminate(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil // ended by the signal
	}
	return err
}
