package script

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// getCommand is the command "get STATUS PATH [FILE]": it sends a GET request to the gateway at $URL, with the token in FILE
// if there is one, prints the answer, and fails if the status is another one.
func getCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: get STATUS PATH [FILE]")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, ts.Getenv("URL")+args[1], nil)
	ts.Check(err)
	if len(args) == 3 {
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(args[2])))
	}
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	_, err = io.Copy(ts.Stdout(), resp.Body)
	ts.Check(err)
	if status := resp.Status[:3]; status != args[0] {
		ts.Fatalf("GET %s answers %s, want %s", args[1], status, args[0])
	}
}
