package mcp

import (
	"context"
	"testing"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// Without a display, opening a page in the browser fails, so that the address is shown instead.
func TestNoDisplayIsAnError(t *testing.T) {
	t.Parallel()
	p := commands{&root.Program{Output: output.Output{Env: config.EnvOf("PATH=/nowhere")}}}
	if err := p.OpenBrowser(context.Background(), "https://as.example/"); err == nil {
		t.Error("a browser was opened without a display, or without a program that opens one")
	}
}
