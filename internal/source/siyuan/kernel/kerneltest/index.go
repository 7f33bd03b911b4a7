package kerneltest

import (
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"modernc.org/sqlite"
)

//go:embed testdata/sql-schema.json
var schemaFile embed.FS

// registerRegexp gives SQLite the regexp operator, once for the process since the driver keeps its functions there.
var registerRegexp = sync.OnceFunc(func() {
	sqlite.MustRegisterDeterministicScalarFunction("regexp", 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		pattern, err := regexp.Compile(fmt.Sprint(args[0]))
		if err != nil {
			return nil, err
		}
		return pattern.MatchString(fmt.Sprint(args[1])), nil
	})
})

// index is the SQL side of the kernel: a database that follows the tree, at once or when it is told to.
type index struct {
	t  testing.TB
	db *sql.DB // nil until it is needed: most tests ask no SQL
	// stale says that the tree changed since the last refresh.
	stale bool
	// delayed says that only a flush refreshes.
	delayed bool
	// staleText says that the full text table is older than the blocks; it is rebuilt when a statement names it.
	staleText bool
	// held are the rows of the tables that mirror the tree: their rowids by table and content.
	held map[string]map[string][]int64
}

func newIndex(t testing.TB) *index { return &index{t: t, stale: true} }

// open returns the database, made at the first call.
func (x *index) open() *sql.DB {
	if x.db != nil {
		return x.db
	}
	t := x.t
	registerRegexp()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range schema(t) {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("kerneltest: %s: %v", statement, err)
		}
	}
	x.db = db
	return db
}

// schema returns the recorded table definitions. The tokenizer of the full text table is the kernel's own; ours is
// SQLite's, so a Chinese word is found only where it stands alone.
func schema(t testing.TB) []string {
	data, err := schemaFile.ReadFile("testdata/sql-schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Master []struct{ Name, SQL string } `json:"sqlite_master"`
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	var tables, indexes []string
	for _, entry := range recorded.Master {
		switch {
		case strings.HasPrefix(entry.SQL, "CREATE INDEX"):
			indexes = append(indexes, entry.SQL)
		case entry.SQL != "" && !strings.HasPrefix(entry.Name, "blocks_fts_"):
			tables = append(tables, strings.ReplaceAll(entry.SQL, "siyuan case_insensitive", "unicode61"))
		}
	}
	all := append(tables, indexes...)
	return append(all, `INSERT INTO stat VALUES ('siyuan_database_ver', '202607031200')`)
}

// DelayIndex makes SQL lag behind the tree until a flush or [Kernel.IndexNow], as it does on a real kernel for some
// seconds. By default it does not lag.
func (k *Kernel) DelayIndex(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refresh()
	k.index.delayed = on
}

// IndexNow does what the kernel does some seconds after a write: SQL sees the tree as it is.
func (k *Kernel) IndexNow() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.settle()
	k.refresh()
}

// touch marks the index as older than the tree.
func (k *Kernel) touch() { k.index.stale = true }

// refresh rewrites the index from the tree.
func (k *Kernel) refresh() {
	if !k.index.stale {
		return
	}
	k.index.stale = false
	k.refreshAnchors()
	if err := k.index.fill(k.rows()); err != nil {
		k.t.Errorf("kerneltest: refresh the index: %v", err)
	}
}

// rows collects what the tables hold: one row per entry, by table.
func (k *Kernel) rows() map[string][][]any {
	rows := map[string][][]any{}
	for _, d := range k.documents {
		if d.box.conf.Closed {
			continue
		}
		path, hpath := d.path(), d.hpath()
		if d.hidden() {
			hpath = "/" + d.title()
		}
		d.root.walk(func(b *block) { k.blockRows(rows, b, path, hpath) })
	}
	return rows
}

func (k *Kernel) blockRows(rows map[string][][]any, b *block, path, hpath string) {
	root, box := b.doc.id(), b.doc.box.id
	content, markdown := contentOf(b), markdownOf(b)
	parent := ""
	if b.parent != nil {
		parent = b.above().id
	}
	// A container's row holds its whole text, but its length is that of its first leaf.
	length := runeCount(content)
	first := firstContent(b)
	if b.container() {
		length = runeCount(first)
	}
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(b.id+content+markdown)))[:7]
	rows["blocks"] = append(rows["blocks"], []any{
		b.id, parent, root, hash, box, path, hpath, b.attrs["name"], b.attrs["alias"], b.attrs["memo"],
		blockTags(b), content, first, markdown, length, b.kind, b.subtype(), ial(b.attrs), sortOf(b.kind),
		created(b), b.attrs["updated"],
	})
	for _, name := range sortedKeys(b.attrs) {
		if indexedAttribute(name) {
			rows["attributes"] = append(rows["attributes"], []any{
				rowID(b.id, "attr", name), name, b.attrs[name], "b", b.id, root, box, path,
			})
		}
	}
	if b.kind == kindEmbed {
		k.refRow(rows, b, path, span{target: embedTarget(b.text)}, "query_embed")
	}
	if b.container() || b.kind == kindCode || b.kind == kindMath || b.kind == kindHTML || b.kind == kindEmbed {
		return
	}
	spans := spansOf(b.text)
	for i, s := range spans {
		id := rowID(b.id, s.kind, fmt.Sprint(i))
		switch s.kind {
		case "":
		case "block-ref":
			// A block that refers to another more than once has one row for it.
			if !slices.ContainsFunc(spans[:i], func(other span) bool { return other.target == s.target }) {
				k.refRow(rows, b, path, s, "textmark")
			}
			rows["spans"] = append(rows["spans"], []any{id, b.id, root, box, path, s.content, s.markdown, "textmark block-ref", ""})
		case "img":
			rows["spans"] = append(rows["spans"], []any{id, b.id, root, box, path, s.content, s.markdown, "img", ""})
		default:
			rows["spans"] = append(rows["spans"], []any{id, b.id, root, box, path, s.content, s.markdown, "textmark " + s.kind, ""})
		}
		if strings.HasPrefix(s.target, "assets/") {
			name := s.target[strings.LastIndex(s.target, "/")+1:]
			rows["assets"] = append(rows["assets"], []any{rowID(b.id, "asset", fmt.Sprint(i)), b.id, root, box, path, s.target, name, s.title, k.assetHash(s.target)})
		}
	}
}

func (k *Kernel) refRow(rows map[string][][]any, b *block, path string, s span, kind string) {
	def := k.openBlock(s.target)
	if def == nil {
		return
	}
	rows["refs"] = append(rows["refs"], []any{
		rowID(b.id, s.target, s.markdown), def.id, idOf(def.parent), def.doc.id(), def.doc.path(), b.id, b.doc.id(), b.doc.box.id, path,
		s.content, s.markdown, kind,
	})
}

var embedID = regexp.MustCompile(`\d{14}-[0-9a-z]{7}`)

func embedTarget(text string) string { return embedID.FindString(text) }

// rowID makes a stable id for a row that belongs to a block.
func rowID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	tail := make([]byte, 7)
	for i := range tail {
		tail[i] = digits[int(sum[i])%len(digits)]
	}
	return parts[0][:min(14, len(parts[0]))] + "-" + string(tail)
}

// blockTags are the tags of a leaf, and for a document those of its tags attribute.
func blockTags(b *block) string {
	if b.kind == kindDocument {
		var tags []string
		for tag := range strings.SplitSeq(b.attrs["tags"], ",") {
			if tag = strings.TrimSpace(tag); tag != "" {
				tags = append(tags, "#"+tag+"#")
			}
		}
		return strings.Join(tags, " ")
	}
	if b.kind != kindParagraph && b.kind != kindHeading && b.kind != kindTable {
		return ""
	}
	return strings.Join(tagsOf(b.text), " ")
}

// indexedAttribute reports whether an attribute has a row in the attributes table.
func indexedAttribute(name string) bool {
	switch name {
	case "id", "updated", "type", "title", "fold":
		return false
	}
	return true
}

func created(b *block) string { return b.id[:min(14, len(b.id))] }

// fill makes the tables that mirror the tree hold rows and no others. What they hold already stays: most writes change
// little, and SQLite is slow under the race detector.
func (x *index) fill(rows map[string][][]any) error {
	tx, err := x.open().Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	held := map[string]map[string][]int64{}
	for _, table := range []string{"blocks", "attributes", "refs", "spans", "assets"} {
		if held[table], err = replaceRows(tx, table, rows[table], x.held[table]); err != nil {
			return err
		}
	}
	x.staleText = true
	if err := tx.Commit(); err != nil {
		return err
	}
	x.held = held
	return nil
}

// fillText rebuilds the full text table if statement may ask for it.
func (x *index) fillText(statement string) error {
	if !x.staleText || !strings.Contains(statement, "blocks_fts") {
		return nil
	}
	x.staleText = false
	_, err := x.open().Exec("INSERT INTO blocks_fts(blocks_fts) VALUES('rebuild')")
	return err
}

// replaceRows makes a table hold rows, where it holds those of before now, and returns what it holds then.
func replaceRows(tx *sql.Tx, table string, rows [][]any, before map[string][]int64) (map[string][]int64, error) {
	kept, now := map[string]int{}, map[string][]int64{}
	var fresh [][]any
	var keys []string
	for _, row := range rows {
		key := fmt.Sprintf("%q", row)
		if n := kept[key]; n < len(before[key]) {
			kept[key]++
			now[key] = append(now[key], before[key][n])
			continue
		}
		fresh, keys = append(fresh, row), append(keys, key)
	}
	for key, ids := range before {
		for _, id := range ids[kept[key]:] {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE rowid = ?", id); err != nil {
				return nil, err
			}
		}
	}
	const most = 40 // at once
	for len(fresh) > 0 {
		n := min(most, len(fresh))
		last, err := insertRows(tx, table, fresh[:n])
		if err != nil {
			return nil, err
		}
		for i, key := range keys[:n] {
			now[key] = append(now[key], last-int64(n-1-i))
		}
		fresh, keys = fresh[n:], keys[n:]
	}
	return now, nil
}

// insertRows adds rows, whose rowids follow each other, and returns the last one.
func insertRows(tx *sql.Tx, table string, rows [][]any) (last int64, err error) {
	one := "(" + strings.TrimSuffix(strings.Repeat("?,", len(rows[0])), ",") + ")"
	var values []any
	for _, row := range rows {
		values = append(values, row...)
	}
	done, err := tx.Exec("INSERT INTO "+table+" VALUES "+one+strings.Repeat(","+one, len(rows)-1), values...)
	if err != nil {
		return 0, err
	}
	return done.LastInsertId()
}
