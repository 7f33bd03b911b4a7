// Command between is the client that the official suite starts for each scenario of the client role. It runs
// a Collie in front of the suite's server, signs in there as a person would, and lets the everything-client
// of the Go SDK talk to that Collie:
//
//	between -collie PROGRAM -client PROGRAM URL
//
// Its exit code is that of the client, or 1 if the client was never run.
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

// maxSignIns is how often a person signs in at most.
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

// scenario is the information that the suite passes in the environment.
type scenario struct {
	name  string
	given struct { // MCP_CONFORMANCE_CONTEXT: what was arranged in advance with the authorization server
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

// run starts Collie in front of the server at url, signs in when the server asks for it, and runs the client after each
// sign-in. It returns the exit code of the client's last run.
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
		if code, err = runClient(ctx, client, s.name, address); err != nil {
			return 1, err
		}
	}
}

// runClient runs the client once.
func runClient(ctx context.Context, program, scenario, address string) (code int, err error) {
	cmd := exec.CommandContext(ctx, program, address)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "MCP_CONFORMANCE_SCENARIO="+clientScenario(scenario))
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// clientScenario returns the name of a scenario that the client has and that does the same: list the tools and call
// one. How Collie signs in makes no difference to the client.
func clientScenario(scenario string) string {
	if strings.HasPrefix(scenario, "auth/") {
		return "auth/metadata-default"
	}
	return scenario
}

// discardRest reads the rest of a program's output, so that the program does not block.
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
