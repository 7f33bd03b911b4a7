package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

const (
	// name is what the suite's server is called in the settings.
	name = "suite"
	// document is the client metadata URL that scenario auth/basic-cimd looks for.
	document = "https://conformance-test.local/client-metadata.json"
	// secretName is the name of the secret that holds the client's OAuth secret.
	secretName = "CLIENT"
)

// gateway is a Collie with a home of its own and one server.
type gateway struct {
	program, home, config string
}

// configure writes the settings for a scenario, and keeps the secret that they name.
func (g *gateway) configure(ctx context.Context, s scenario, url string) error {
	entry := map[string]any{"url": url, "prefix": ""}
	if strings.HasPrefix(s.name, "auth/") {
		auth := map[string]any{"type": "oauth"}
		if s.given.ClientID != "" {
			auth["clientId"] = s.given.ClientID
		} else {
			auth["clientMetadataUrl"] = document
		}
		if s.given.ClientSecret != "" {
			auth["clientSecret"] = "${secret:" + secretName + "}"
		}
		if strings.HasPrefix(s.name, "auth/client-credentials-") {
			auth["grantType"] = "client_credentials"
		}
		entry["auth"] = auth
	}
	raw, err := json.Marshal(map[string]any{
		"mcpServers": map[string]any{name: entry},
		"secrets":    map[string]any{"store": "file"},
		"siyuan":     map[string]any{"enabled": false},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(g.config, raw, 0o600); err != nil {
		return err
	}
	if s.given.ClientSecret == "" {
		return nil
	}
	cmd := g.command(ctx, "secret", "set", secretName)
	cmd.Stdin = strings.NewReader(s.given.ClientSecret)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("collie secret set: %w\n%s", err, out)
	}
	return nil
}

// command returns a command of Collie, which is not started yet.
func (g *gateway) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append(args, "--home", g.home, "--config", g.config)
	cmd := exec.CommandContext(ctx, g.program, args...)
	cmd.Env = []string{"HOME=" + g.home, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// readyLine finds the endpoint in what `collie serve` writes when start-up is over.
var readyLine = regexp.MustCompile(`ready: .* (https?://127\.0\.0\.1:\d+/mcp)`)

// serve starts the gateway and returns its endpoint once start-up is over. stop ends it.
func (g *gateway) serve(ctx context.Context) (address string, stop func() error, err error) {
	cmd := g.command(ctx, "serve", "--http", "127.0.0.1:0", "--no-auth")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	lines := bufio.NewScanner(io.TeeReader(stderr, os.Stderr))
	for lines.Scan() {
		if m := readyLine.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(os.Stderr, stderr) //nolint:errcheck // ends with the program, and is read by people
			return m[1], func() error { return terminate(cmd) }, nil
		}
	}
	if err := cmd.Wait(); err != nil {
		return "", nil, fmt.Errorf("collie serve ended before it was ready: %w", err)
	}
	return "", nil, errors.New("collie serve ended before it was ready, and says that all went well")
}

// startLimit bounds the wait for a gateway that a busy machine keeps from answering.
const startLimit = 3 * time.Minute

// wantsSignIn reports whether the server waits for a person.
func (g *gateway) wantsSignIn(ctx context.Context) (bool, error) {
	for begun := time.Now(); ; {
		out, err := g.command(ctx, "mcp", "list", name, "--json").Output()
		if err != nil {
			return false, fmt.Errorf("collie mcp list: %w", err)
		}
		var list struct {
			Running bool
			Servers []struct{ State string }
		}
		if err := json.Unmarshal(out, &list); err != nil {
			return false, fmt.Errorf("collie mcp list --json: %w", err)
		}
		if list.Running && len(list.Servers) == 1 {
			fmt.Fprintln(os.Stderr, "between: the server is", list.Servers[0].State)
			return list.Servers[0].State == "needs_auth", nil
		}
		if time.Since(begun) > startLimit {
			return false, fmt.Errorf("collie mcp list --json: expected one server of a gateway that runs, got %s", out)
		}
	}
}

// page finds the address in what `collie mcp auth` shows.
var page = regexp.MustCompile(`^ +(https?://\S+)$`)

// signIn runs `collie mcp auth` and opens the page that it shows, as a browser does.
func (g *gateway) signIn(ctx context.Context) error {
	cmd := g.command(ctx, "mcp", "auth", name, "--no-browser")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	said := io.TeeReader(stderr, os.Stderr)
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if m := page.FindStringSubmatch(lines.Text()); m != nil {
			if err := openPage(ctx, m[1]); err != nil {
				fmt.Fprintln(os.Stderr, "between: the browser:", err)
			}
			break
		}
	}
	discardRest(said)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("collie mcp auth: %w", err)
	}
	return nil
}

// openPage opens a page and goes where it leads.
func openPage(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return err
}
