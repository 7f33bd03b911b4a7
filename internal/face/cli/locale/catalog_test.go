package locale_test

import (
	"errors"
	"testing"

	"collie/internal/face/cli/locale"
)

// po is a small catalog.
const po = `# a comment
msgid "removed %s from %s\n"
msgstr "已从 %[2]s 中移除 %[1]s\n"

msgid "memory"
msgstr "内存"

msgid "no server of that name"
msgstr "没有该名称的服务器"

msgid "; did you mean %s"
msgstr "；是不是 %s"

msgid "; did you mean %s?"
msgstr "；是不是 %s？"

msgid "%s is %q, expected one of %v%s"
msgstr "%s 的值是 %q，应为以下之一：%v%s"

msgid "%d server"
msgstr "%d 个服务器"

msgid ""
"one line\n"
"%d %% of another"
msgstr ""
"一行\n"
"另一行的 %d %%"
`

// Finished sentences are translated by their formats. Values of one word, which may be names, stay.
func TestSentence(t *testing.T) {
	t.Parallel()
	c := locale.Parse(po)
	for english, want := range map[string]string{
		"no server of that name":                               "没有该名称的服务器",
		"removed a b from /x\n":                                "已从 /x 中移除 a b\n",
		"mcp list: no server of that name":                     "mcp list：没有该名称的服务器",
		`--f is "x", expected one of [y z]; did you mean y?`:   `--f 的值是 "x"，应为以下之一：[y z]；是不是 y？`,
		"no server of that name; did you mean no server?":      "没有该名称的服务器；是不是 no server？",
		"one line\n90 % of another":                            "一行\n另一行的 90 %",
		"removed a\nb from x\n":                                "removed a\nb from x\n",
		"the name of a server":                                 "the name of a server",
		"removed memory from memory\n":                         "已从 memory 中移除 memory\n",
		"memory: no server of that name; did you mean memory?": "memory：没有该名称的服务器；是不是 memory？",
		"memory":                   "内存",
		"1 server":                 "1 个服务器",
		"something else; and more": "something else; and more",
		"":                         "",
	} {
		if got := c.Sentence(english); got != want {
			t.Errorf("%q: %q, want %q", english, got, want)
		}
	}
	var none *locale.Catalog
	if got := none.Sentence("x") + none.Get("y"); got != "xy" {
		t.Errorf("English is %q", got)
	}
}

// Invalid catalogs are errors in the program, so Parse panics.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("it is taken for a catalog")
		}
	}()
	locale.Parse("msgid no quotes")
}

// Every Chinese locale has the Chinese catalog, all others are English.
func TestOfLocale(t *testing.T) {
	t.Parallel()
	for name, chinese := range map[string]bool{"zh_CN.UTF-8": true, "zh": true, "ZH_tw": true, "": false, "C.UTF-8": false, "en_GB": false} {
		c := locale.OfLocale(name)
		if got := c.Get("Add a server to the settings") != "Add a server to the settings"; got != chinese {
			t.Errorf("%q: Chinese is %v", name, got)
		}
	}
	for english, want := range map[string]string{
		"/x/collie.json; 3 servers; it does not exist yet": "/x/collie.json；3 个服务器；还不存在",
		"idle: it was not used for 10 minutes":             "idle：10 分钟没有人使用",
		"3 servers of mine":                                "3 servers of mine",
	} {
		if got := locale.OfLocale("zh").Sentence(english); got != want {
			t.Errorf("%q is %q, want %q", english, got, want)
		}
	}
	if got := locale.OfLocale("zh").Sentence(errors.New("mcp: Add a server to the settings").Error()); got != "mcp：把服务器添加到设置" {
		t.Errorf("an error reads %q", got)
	}
}
