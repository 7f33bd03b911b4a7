package notes_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
)

// generator makes the random calls of TestTwoWorkspaces. Most are cases of the table and probes, some of them
// modified. The others are made from the schema of an action, with ids, paths and names that are visible, hidden or
// do not exist.
type generator struct {
	*rand.Rand
	w         *workspace
	toTokens  *strings.Replacer // from what differs between the workspaces to tokens; see tokens
	names     []string
	actions   map[string]*action.Action
	cases     []useCase
	probeArgs map[string][]object // arguments of probes by action
}

func newGenerator(seed uint64, r *gateway) *generator {
	g := &generator{
		Rand: rand.New(rand.NewPCG(seed, 0)), w: r.workspace, toTokens: strings.NewReplacer(r.tokens()...), actions: actionsByName(), cases: cases(), probeArgs: r.moreArgs(),
	}
	g.names = slices.Sorted(maps.Keys(g.actions))
	return g
}

// pick returns a random element of list.
func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// chance returns true in n percent of cases.
func (g *generator) chance(n int) bool { return g.IntN(100) < n }

// call makes a random call: a probe, a case, possibly with further arguments, or arguments from the schema.
func (g *generator) call() randomCall {
	act, args := pick(g, g.names...), object{}
	switch {
	case g.chance(15) && g.probeArgs[act] != nil:
		args = maps.Clone(pick(g, g.probeArgs[act]...))
	case g.chance(65):
		k := pick(g, g.cases...)
		for k.kind == peopleOnly || g.actions[k.act] == nil {
			k = pick(g, g.cases...)
		}
		act, args = k.act, maps.Clone(k.args(g.w, g.place()))
		if g.chance(70) {
			break
		}
		fallthrough
	default:
		for _, p := range g.actions[act].Params() {
			if _, there := args[p.Name]; there && !g.chance(20) {
				continue
			}
			if p.Required && g.chance(97) || g.chance(30) {
				args[p.Name] = g.value(act, p.Name, gjson.ParseBytes(p.Schema()))
			}
		}
	}
	if g.actions[act].Class.Writes() && g.chance(10) {
		args["validateOnly"] = true
	}
	if g.chance(15) {
		args["verbose"] = true
	}
	return randomCall{act, g.toTokens.Replace(string(encode(args)))}
}

// place returns a random place, mostly the open or the hidden one.
func (g *generator) place() *place {
	switch n := g.IntN(100); {
	case n < 62:
		return g.w.open
	case n < 72:
		return g.w.shut
	case n < 92:
		return g.w.hidden
	}
	return g.w.ghost
}

// value returns a value for an argument: of the right type, and usually with the right meaning.
func (g *generator) value(act, name string, schema gjson.Result) any {
	if list := schema.Get("enum").Array(); len(list) > 0 {
		return pick(g, list...).Value()
	}
	switch schema.Get("type").Str {
	case "boolean":
		return g.chance(50)
	case "integer", "number":
		least := int(schema.Get("minimum").Int())
		return least + g.IntN(12)
	case "array":
		out := []any{}
		for range 1 + g.IntN(2) {
			out = append(out, g.value(act, name, schema.Get("items")))
		}
		return out
	case "object":
		out := object{}
		schema.Get("properties").ForEach(func(member, s gjson.Result) bool {
			if g.chance(60) {
				out[member.Str] = g.value(act, member.Str, s)
			}
			return true
		})
		if len(out) == 0 {
			out[pick(g, "custom-zq", "icon", "memo", "paragraph", "plain")] = pick[any](g, "x", true, g.word())
		}
		return out
	}
	return g.text(act, name)
}

// text returns a text for an argument, depending on the argument's name.
func (g *generator) text(act, name string) any {
	low := strings.ToLower(name)
	switch {
	case g.chance(2):
		return pick(g, "", " ", "%", "'", "..", "\u200b", "((", strings.Repeat("长", 300))
	case low == "notebook" || low == "tonotebook" || low == "targetnotebook":
		return g.place().nb
	case strings.HasSuffix(low, "path") && strings.HasPrefix(low, "dailynote"), strings.HasSuffix(low, "savepath"), low == "template":
		return g.template()
	case low == "stmt" || low == "sql":
		return g.statement()
	case strings.Contains(low, "deck"):
		return pick(g, g.w.deck, "20230218211946-2kw8jgx", string(g.place().id("dck1")))
	case strings.Contains(low, "card") && strings.Contains(low, "id"):
		return g.place().cardID(pick(g, "par2", "par3"))
	case strings.Contains(low, "path") || low == "from" || low == "to" || low == "src" || low == "dst" || low == "outputdir":
		return g.path()
	case strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "Id") || strings.HasSuffix(low, "ids") || low == "id":
		return g.id(act, low)
	case low == "markdown" || low == "data" || low == "r" || low == "content" || low == "new" || low == "text":
		return g.markdown()
	}
	return g.word()
}

// id returns the id of something in a random place, or a token for an id that an earlier call has returned.
func (g *generator) id(act, name string) string {
	p := g.place()
	switch {
	case g.chance(12):
		return fmt.Sprintf("{new:%d}", g.IntN(12))
	case strings.Contains(name, "av") || strings.HasPrefix(act, "av.") && g.chance(50):
		return string(p.id(pick(g, "daba", "daba", "dbbl", "colt", "rowb", "rowd", "rowx")))
	case g.chance(8):
		return string(p.nb)
	}
	return string(p.id(pick(g,
		"doca", "docb", "docc", "docd", "docr", "head", "para", "par2", "par3", "par4", "refp", "list", "item", "quot", "supr", "code", "math", "tabl",
		"html", "ifra", "embd", "imgp", "dbbl", "attr", "hedb", "parb", "pard", "parc", "re01", "re02", "re03", "re04",
	)))
}

// path returns a path of a document, a file or a folder.
func (g *generator) path() string {
	p := g.place()
	d := pick(g, "a", "b", "c", "d", "r")
	return pick(g,
		p.notePath(d), p.notePath("a")+"/"+p.title(d), "/"+p.name(), "/", p.hpath(d), p.childHPath(), p.path(d), p.childPath(d), "/new", p.notePath("a")+"/new",
		p.asset("pic"), p.asset("file"), p.ownAsset("own"), p.ownAsset("lone"), "/data/"+p.asset("pic"), "/data/"+string(p.nb)+"/assets", sharedPic,
		"zqtemplate.md", "zqquery.md", "/AGENTS.md", "/USER_RULES.md", "zqlocal.txt", "/assets/",
	)
}

// word returns a search word or a name.
func (g *generator) word() string {
	p := g.place()
	return pick(g,
		"common", "zq", "heading2", sharedTag, g.w.hidden.word("two"), p.word("two"), p.word("tag"), p.word("dbname"), p.word("pic"), p.word("attrname"),
		p.title("b"), p.cjk, string(p.id("par2")), "zqhdn", "new", "名字", g.w.open.word("tag")+"/below",
	)
}

// markdown returns text that may refer to, embed or query other content.
func (g *generator) markdown() string {
	p := g.place()
	parts := []string{
		"plain text common", "## Heading\n\ntext", fmt.Sprintf("see ((%s 'x'))", p.id("par2")), fmt.Sprintf("see ((%s \"x\")) and ((%s))", p.id("doca"), p.id("head")),
		fmt.Sprintf("{{select * from blocks where id='%s'}}", p.id("par2")), "{{select * from blocks where content like '%common%' limit 3}}",
		"[file](" + p.asset("file") + ") ![](" + p.asset("pic") + ")", "#" + p.word("tag") + "#",
		fmt.Sprintf(`<div data-type="NodeAttributeView" data-av-id="%s" data-av-type="table"></div>`, p.id("daba")),
		fmt.Sprintf("text\n{: id=%q custom-zq=\"1\"}", p.id(pick(g, "par4", "newb"))), "[[" + p.title("a") + "]]", "- item\n- [ ] task", "| a | b |\n|---|---|\n| 1 | 2 |",
	}
	return pick(g, parts...)
}

// template returns a template or the path of one; some read notes.
func (g *generator) template() string {
	p := g.place()
	return pick(g,
		"/plain", `/d/{{now | date "2006"}}`, `{{ upper "x" }}`, `/{{ queryBlocks "SELECT * FROM blocks" | len }}`, `{{ range queryBlocks "SELECT * FROM blocks WHERE box = '`+string(p.nb)+`'" }}{{ .Content }}{{ end }}`,
		"/zqtemplate.md", "/zqquery.md", "/../x.md", "", `{{ nosuch }}`, `{{ range until 3 }}x{{ end }}`,
	)
}

// statement returns a SQL statement.
func (g *generator) statement() string {
	p := g.place()
	return pick(g,
		"SELECT id, content, box FROM blocks WHERE content LIKE '%common%' ORDER BY content LIMIT 20", "SELECT count(*) AS n FROM blocks",
		"SELECT box, count(*) AS n FROM blocks GROUP BY box ORDER BY n", "SELECT * FROM blocks WHERE id = '"+string(p.id("par2"))+"'",
		"SELECT path FROM assets WHERE path LIKE '%zq%' ORDER BY path", "SELECT * FROM refs WHERE def_block_id = '"+string(p.id("par3"))+"' ORDER BY content, block_id",
		"SELECT name, value FROM attributes WHERE value LIKE '%"+p.word("attr")+"%' ORDER BY name", "SELECT content FROM spans WHERE content LIKE '%tag%' ORDER BY content",
		"SELECT b.content FROM blocks b JOIN refs r ON r.def_block_id = b.id ORDER BY b.content LIMIT 9", "SELECT * FROM blocks WHERE box = '"+string(p.nb)+"' ORDER BY content, id LIMIT 3",
		"SELECT max(length(content)) AS n FROM blocks", "SELECT hpath FROM blocks WHERE type = 'd' ORDER BY hpath",
	)
}
