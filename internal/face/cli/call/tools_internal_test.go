package call

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
)

// A server that hangs keeps nobody from seeing what the others offer; who wants one tool waits.
func TestOfferedWhileServersHang(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("await") == "*" {
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, `{"tools":[{"name":"git"}]}`)
	}))
	defer srv.Close()
	p := commands{&root.Program{}}
	for _, one := range []bool{false, true} {
		r := remote.New(&config.Config{}, home.Gateway{URL: srv.URL, Control: "key"}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		tools, err := p.offered(ctx, r, "", one, 20*time.Millisecond)
		cancel()
		r.Close()
		switch {
		case one && !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("for one tool: %v, %v, want to wait as long as the person does", tools, err)
		case !one && (err != nil || len(tools) != 1 || tools[0].Name != "git"):
			t.Errorf("for all tools: %v, %v, want what is known", tools, err)
		}
	}
}
