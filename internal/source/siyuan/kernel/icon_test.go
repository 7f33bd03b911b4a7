package kernel_test

import (
	"testing"

	"collie/internal/source/siyuan/kernel"
)

func TestIcon(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"1f4d4", "1f4d4"},
		{"1F4D4", "1f4d4"},
		{"1f468-200d-1f4bb", "1f468-200d-1f4bb"},
		{"📔", "1f4d4"},
		{" 👨‍💻 ", "1f468-200d-1f4bb"},
		{"1️⃣", "31-fe0f-20e3"},
		{"cats/Tom.png", "cats/Tom.png"},
		{"api/icon/getDynamicIcon?type=1", "api/icon/getDynamicIcon?type=1"},
	} {
		if got, err := kernel.Icon(c.in); got != c.want || err != nil {
			t.Errorf("Icon(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{"book", "笔记", "../x.png", "/etc/x.png", "1", "📔 book", `a"b.png`, "x\n"} {
		if got, err := kernel.Icon(bad); err == nil {
			t.Errorf("Icon(%q) = %q, want an error", bad, got)
		}
	}
}
