package root

import (
	"context"
	"runtime"
	"testing"

	"collie/internal/config"
	"collie/internal/face/cli/output"
)

// Without a display, opening a page in the browser fails, so that the command shows the address instead.
func TestNoDisplayIsAnError(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the system's own program opens pages there, whatever the environment says")
	}
	p := &Program{Output: output.Output{Env: config.EnvOf("PATH=/nowhere")}}
	if err := p.OpenBrowser(context.Background(), "https://as.example/"); err == nil {
		t.Error("a browser was opened without a display")
	}
}
