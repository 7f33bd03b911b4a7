package document_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestHeadingToDoc(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("A"), k.Notebook("B")
	id := k.Doc(nb, "/D", "intro\n\n## 第一\n\nbody\n\n## Two\n\nx")
	to := k.Doc(other, "/To", "")
	blocks := children(t, k, id)
	got := k.Must(t, findAction(t, "heading_to_doc"), args("headingID", blocks[1], "targetNotebook", other, "targetPath", storagePathOf(to)))
	if got.Get("id").String() != blocks[1] || got.Get("sourceID").String() != id || got.Get("hPath").String() != "/To/第一" ||
		got.Get("path").String() != "/"+to+"/"+blocks[1]+".sy" || got.Get("notebook").String() != other {
		t.Errorf("split: %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "heading_to_doc"), args("headingID", blocks[3], "targetNotebook", nb))
	if got.Get("hPath").String() != "/Two" || len(children(t, k, id)) != 1 {
		t.Errorf("split to the top: %s", got.Raw)
	}
}

// The kernel writes the title as HTML.
func TestHeadingToDocTitle(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		`R & D <x> "q" 's`: `R & D <x> "q" 's`, "`code` x": "code x", "会议 😀": "会议 😀",
		"`&lt;` stays": "&lt; stays", // an entity in the heading itself is not decoded
	} {
		k := actiontest.New(t)
		nb := k.Notebook("A")
		id := children(t, k, k.Doc(nb, "/D", "# "+heading+"\n\nbody"))[0]
		own := strings.Contains(heading, "&lt;")
		if !own {
			k.Client = kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token, Transport: escapeTitle(k, id, want)})
			t.Cleanup(k.Client.Close)
		}
		got := k.Must(t, findAction(t, "heading_to_doc"), args("headingID", id, "targetNotebook", nb))
		if own && strings.Contains(got.Get("hPath").String(), "&amp;lt;") {
			want = "&amp;lt; stays" // a real kernel writes this, and it is not changed
		}
		if at := got.Get("hPath").String(); at != "/"+want || hpathOf(t, k, id) != at {
			t.Errorf("%q became %q", heading, at)
		}
	}
}

// escapeTitle returns a transport that, after the kernel made a document of a heading, renames the document to the title with HTML
// entities, as some kernels do.
func escapeTitle(k *actiontest.Kit, id, title string) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil && req.URL.Path == "/api/filetree/heading2Doc" {
			c := kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token})
			defer c.Close()
			err = c.RenameDocument(req.Context(), kernel.ID(id), html.EscapeString(title))
		}
		return resp, err
	})
}

func TestHeadingToDocRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("A"), k.Notebook("B")
	id := k.Doc(nb, "/D", "intro #tag#\n\n## One\n\nbody")
	below := k.Doc(nb, "/D/below", "")
	blocks := children(t, k, id)
	for _, c := range []struct {
		kind tool.ErrorKind
		call string
	}{
		{tool.Invalid, args("headingID", blocks[0], "targetNotebook", nb)},
		{tool.Invalid, args("headingID", id, "targetNotebook", nb)},
		{tool.Invalid, args("headingID", blocks[1])},
		{tool.NotFound, args("headingID", blocks[1], "targetNotebook", other, "targetPath", storagePathOf(id))},
		{tool.NotFound, args("headingID", blocks[1], "targetNotebook", actiontest.Nowhere)},
		{kernel.InvalidPath, args("headingID", blocks[1], "targetNotebook", nb, "targetPath", "/D")},
		{tool.Conflicting, args("headingID", blocks[1], "targetNotebook", nb, "previousPath", "/"+id+"/"+below+".sy")},
	} {
		k.Refused(t, findAction(t, "heading_to_doc"), c.call, c.kind)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
}

func TestHeadingToDocGuarded(t *testing.T) {
	t.Parallel()
	checkGuarded(t, "heading_to_doc", access.Write, func(k *actiontest.Kit, nb string) (string, []string) {
		h := children(t, k, k.Doc(nb, "/D", "# H"))[0]
		return args("headingID", h, "targetNotebook", k.Notebook("Open")), []string{h}
	}, func(k *actiontest.Kit) string {
		return args("headingID", actiontest.Nowhere, "targetNotebook", k.Notebook("Open"))
	})
	checkGuarded(t, "heading_to_doc", access.Write, func(k *actiontest.Kit, nb string) (string, []string) {
		h := children(t, k, k.Doc(k.Notebook("Open"), "/D", "# H"))[0]
		return args("headingID", h, "targetNotebook", nb), []string{nb}
	}, func(k *actiontest.Kit) string {
		h := children(t, k, k.Doc(k.Notebook("Open"), "/D", "# H"))[0]
		return args("headingID", h, "targetNotebook", actiontest.Nowhere)
	})
}

// children returns the ids of the blocks of a document.
func children(t testing.TB, k *actiontest.Kit, id string) (out []string) {
	t.Helper()
	for _, child := range k.Children(t, kernel.ID(id)) {
		out = append(out, string(child))
	}
	return out
}
