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
	"collie/test/await"
)

// A hanging server does not keep a person from seeing what the others offer. Asking for one tool waits.
func TestOfferedWhileServersHang(t *testing.T) {
	t.Parallel()
	p := commands{&root.Program{}}
	for _, one := range []bool{false, true} {
		hanging, plain := make(chan struct{}, 1), make(chan struct{}, 1)
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("await") == "*" {
				hanging <- struct{}{}
				<-r.Context().Done()
				return
			}
			plain <- struct{}{}
			_, _ = io.WriteString(w, `{"tools":[{"name":"git"}]}`)
		}))
		r := remote.New(&config.Config{}, home.Gateway{URL: srv.URL, Control: "key"}, nil)
		ctx, giveUp := context.WithCancel(t.Context())
		if one {
			go func() { // the person, who waits longer than a list does
				<-hanging
				await.Moment(100 * time.Millisecond)
				giveUp()
			}()
		}
		tools, err := p.offered(ctx, r, "", one, 20*time.Millisecond)
		giveUp()
		r.Close()
		srv.Close()
		switch {
		case one && (!errors.Is(err, context.Canceled) || len(plain) > 0):
			t.Errorf("for one tool: %v, %v, want to wait as long as the person does", tools, err)
		case !one && (err != nil || len(tools) != 1 || tools[0].Name != "git"):
			t.Errorf("for all tools: %v, %v, want what is known", tools, err)
		}
	}
}
