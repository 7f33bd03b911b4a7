package document_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestSetAttr(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Doc(k.Notebook("A"), "/D", "")
	for _, c := range []struct {
		attrs, icon, cover string
	}{
		{`{"icon":"📔","cover":"https://example.com/a b.png?x=1"}`, "1f4d4", `background-image:url("https://example.com/a b.png?x=1");`},
		{`{"icon":null}`, "", `background-image:url("https://example.com/a b.png?x=1");`},
		{`{"cover":"assets/封面.png"}`, "", `background-image:url("/assets/封面.png");`},
		{`{"cover":"","icon":"1F600"}`, "1f600", ""},
	} {
		k.Must(t, findAction(t, "set_attr"), args("id", id, "attrs", json.RawMessage(c.attrs)))
		got, err := k.Client.Attrs(t.Context(), kernel.ID(id))
		if err != nil || got["icon"] != c.icon || got["title-img"] != c.cover {
			t.Errorf("%s: icon %q, cover %q, %v", c.attrs, got["icon"], got["title-img"], err)
		}
	}
}

func TestSetAttrRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Doc(k.Notebook("A"), "/D", "")
	for _, attrs := range []string{
		`{}`, `{"icon":"book"}`, `{"cover":"javascript:alert(1)"}`, `{"cover":"/assets/../conf/conf.json"}`,
		`{"cover":"/data/x.png"}`, `{"cover":"https://a/\");color:red;"}`, `{"cover":"file:///etc/passwd"}`,
	} {
		k.Refused(t, findAction(t, "set_attr"), args("id", id, "attrs", json.RawMessage(attrs)), tool.Invalid)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
	on, missing := guardedByID("id", "attrs", map[string]string{"icon": "1f4d4"})
	checkGuarded(t, "set_attr", access.Write, on, missing)
}

func TestSetAttrTakesTheKernelsForm(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Doc(k.Notebook("A"), "/D", "")
	k.OwnForm(t, "/api/attr/setBlockAttrs", `a b.png`, `a%20b.png`)
	got := k.Must(t, findAction(t, "set_attr"), args("id", id, "attrs", json.RawMessage(`{"cover":"/assets/a b.png"}`)))
	if want := `background-image:url("/assets/a%20b.png");`; got.Get("attrs.title-img").String() != want {
		t.Errorf("got %s, want %s", got.Raw, want)
	}
	k.Client = kernel.New(k.URL(), kernel.Options{Transport: fakeSuccess("/api/attr/setBlockAttrs")})
	k.Refused(t, findAction(t, "set_attr"), args("id", id, "attrs", json.RawMessage(`{"icon":"1f4d4"}`)), kernel.Mismatch)
}

// The inverse is a call that sets icon and cover back to their former values, also if a value was empty.
func TestSetAttrInverse(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Doc(k.Notebook("A"), "/D", "")
	if err := k.Client.SetAttrs(t.Context(), kernel.ID(id), map[string]string{"title-img": "background-color:red"}); err != nil {
		t.Fatal(err)
	}
	a := findAction(t, "set_attr")
	r := k.Request(t, a, args("id", id, "attrs", map[string]string{"icon": "1f4d4", "cover": ""}))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	back, err := a.Inverse(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := args("id", id, "attrs", map[string]string{"icon": "", "title-img": "background-color:red"})
	if back.Tool != "block" || back.Action != "set_attrs" || !sameJSON(t, want, string(back.Args)) {
		t.Errorf("got %s.%s %s", back.Tool, back.Action, back.Args)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
