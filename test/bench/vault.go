package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/vault"
	store "collie/internal/vault/workspace"
)

// vaultQueries are the queries that the budget for full text search is about.
var vaultQueries = []struct{ name, text string }{
	{"English, frequent", "frequent"},
	{"English, rare", "rareword"},
	{"two Chinese characters", "常见"},
	{"four Chinese characters", "稀有词语"},
	{"two words", "banana garden"},
	{"a tag", "#project/7#"},
	{"no hit", "xylophone"},
}

// vault measures the built-in notes with a generated file: the handler alone, and the whole program.
func (b *bench) vault(ctx context.Context) error {
	dir, err := os.MkdirTemp(b.dir, "vault-")
	if err != nil {
		return err
	}
	v := &vaultCase{bench: b, file: filepath.Join(dir, "vault.db"), dir: dir}
	begun := time.Now()
	if err := v.fill(ctx); err != nil {
		return err
	}
	b.add(fmt.Sprintf("vault: blocks written a second, %d in all", v.blocks), perSecond,
		[]float64{float64(v.blocks) / time.Since(begun).Seconds()}, bound{})
	for _, part := range []func(context.Context) error{v.openings, v.program, v.handler} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// vaultCase is a vault to measure.
type vaultCase struct {
	*bench
	library
	dir, file string
	appended  int
}

func (v *vaultCase) fill(ctx context.Context) error {
	w, err := store.Open(ctx, v.file, store.Options{})
	if err != nil {
		return err
	}
	v.library, err = fillVault(ctx, w, v.plan.vaultDocs, v.plan.vaultBlocks)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return err
}

// openings measures how long a vault takes to open its file and answer the first request.
func (v *vaultCase) openings(ctx context.Context) error {
	var took []float64
	for round := range v.plan.rounds + 1 {
		begun := time.Now()
		notes := vault.New(v.file, vault.Options{})
		_, err := asker{notes}.ask(ctx, "/api/notebook/lsNotebooks", map[string]any{})
		if round > 0 { // the first opening also sets up the file, which happens only once
			took = append(took, micros(time.Since(begun))/1000)
		}
		if cerr := notes.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	v.add("vault: opened, and its first request answered", milliseconds, took, bound{})
	return nil
}

// program measures `collie serve` with the vault: its start, its calls, and its memory after them.
func (v *vaultCase) program(ctx context.Context) error {
	var start, rest, used, appends, queries []float64
	for range v.plan.rounds {
		err := v.serve(ctx, func(d *daemon) error {
			c, err := dialHTTP(ctx, d.endpoint, legacy)
			if err != nil {
				return err
			}
			defer c.close()
			c.prepare(callTool("notebook", `{"action":"list"}`))
			if _, err := c.call(); err != nil {
				return err
			}
			start = append(start, micros(time.Since(d.begun))/1000)
			if rss, err := memory(d.cmd.Process.Pid, "VmRSS"); err == nil {
				rest = append(rest, rss)
			}
			var took []time.Duration
			for range v.plan.vaultCalls {
				c.prepare(callTool("block", mustJSON(map[string]any{
					"action": "append", "dataType": "markdown", "data": v.text(), "parentID": v.doc(),
				})))
				begun := time.Now()
				if _, err := c.call(); err != nil {
					return fmt.Errorf("block.append: %w", err)
				}
				took = append(took, time.Since(begun))
			}
			appends = append(appends, micros(percentile(took, 50))/1000)
			took = nil
			for range v.plan.vaultQueries {
				for _, q := range vaultQueries {
					c.prepare(callTool("search", mustJSON(map[string]any{"action": "fulltext", "query": q.text})))
					begun := time.Now()
					if _, err := c.call(); err != nil {
						return fmt.Errorf("search.fulltext of %s: %w", q.name, err)
					}
					took = append(took, time.Since(begun))
				}
			}
			queries = append(queries, micros(percentile(took, 50))/1000)
			c.prepare(callTool("fs", `{"action":"tree","path":"/Library 书库","maxDepth":5}`))
			if _, err := c.call(); err != nil {
				return fmt.Errorf("fs.tree: %w", err)
			}
			if rss, err := memory(d.cmd.Process.Pid, "VmRSS"); err == nil {
				used = append(used, rss)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	v.add(fmt.Sprintf("vault of %d blocks: start of `collie serve` to the first answered call", v.blocks), milliseconds, start, atMost(150))
	v.add("vault: RSS after appends, the mix of queries and a tree", mebibytes, used, atMost(120))
	v.add("vault: RSS after the first call", mebibytes, rest, bound{})
	v.add("vault: p50 of block.append through `collie serve`", milliseconds, appends, bound{})
	v.add("vault: p50 of search.fulltext through `collie serve`", milliseconds, queries, bound{})
	return nil
}

// serve runs `collie serve` with the vault while use runs.
func (v *vaultCase) serve(ctx context.Context, use func(*daemon) error) error {
	config := filepath.Join(v.dir, "collie.json")
	if err := os.WriteFile(config, []byte(mustJSON(map[string]any{"vault": map[string]any{"file": v.file}})), 0o600); err != nil {
		return err
	}
	d, err := v.serveIn(ctx, filepath.Join(v.dir, "home"), config, collieListens)
	if err != nil {
		return err
	}
	defer d.stop() //nolint:errcheck // it returns nil
	return use(d)
}

// handler measures the vault as the tools use it, without a gateway.
func (v *vaultCase) handler(ctx context.Context) error {
	notes := vault.New(v.file, vault.Options{})
	defer notes.Close()
	a := asker{notes}
	if err := v.appends(ctx, a); err != nil {
		return err
	}
	if err := v.longAppends(ctx, a); err != nil {
		return err
	}
	if err := v.search(ctx, a); err != nil {
		return err
	}
	if err := v.trees(ctx, a); err != nil {
		return err
	}
	if err := v.writers(ctx, a); err != nil {
		return err
	}
	return v.sound(ctx, notes)
}

// appends measures appending paragraphs, compared with a plain insert into a table of two columns. It goes
// through the documents in turn. In the first round they are read and kept in the history; that round is
// reported separately.
func (v *vaultCase) appends(ctx context.Context, a asker) error {
	floor, err := openFloor(filepath.Join(v.dir, "floor.db"))
	if err != nil {
		return err
	}
	defer floor.Close()
	var ours, plain, first []float64
	for round := range v.plan.rounds + 1 {
		var took, least []time.Duration
		for range v.plan.vaultAppends {
			body := v.append()
			begun := time.Now()
			if _, err := a.ask(ctx, "/api/block/appendBlock", body); err != nil {
				return err
			}
			took = append(took, time.Since(begun))
			begun = time.Now()
			if err := insert(floor, v.appended, body["data"].(string)); err != nil {
				return err
			}
			least = append(least, time.Since(begun))
		}
		p50 := micros(percentile(took, 50)) / 1000
		if round == 0 {
			first = append(first, p50)
			continue
		}
		ours, plain = append(ours, p50), append(plain, micros(percentile(least, 50))/1000)
	}
	v.add("vault: p50 of an append", milliseconds, ours, atMost(2))
	v.add("vault: p50 of an append ÷ a plain insert and commit", ratio, combineRounds(ours, plain, div), bound{})
	v.add("vault: p50 of a plain insert and commit", milliseconds, plain, bound{})
	v.add("vault: p50 of an append that is the first change of its document", milliseconds, first, bound{})
	return nil
}

// longDocument is the number of blocks in a long document.
const longDocument = 20_000

// longAppends measures appending to a long document, without the first paragraph, for which the document is
// read.
func (v *vaultCase) longAppends(ctx context.Context, a asker) error {
	made, err := a.ask(ctx, "/api/filetree/createDocWithMd", map[string]any{
		"notebook": v.box, "path": "/Long 长", "markdown": strings.Repeat("A line of a long document, 一行.\n\n", longDocument),
	})
	if err != nil {
		return err
	}
	var p50s []float64
	for range v.plan.rounds {
		var took []time.Duration
		for range v.plan.vaultAppends / 10 {
			begun := time.Now()
			_, err := a.ask(ctx, "/api/block/appendBlock", map[string]any{"dataType": "markdown", "data": v.text(), "parentID": made.Str})
			if err != nil {
				return err
			}
			took = append(took, time.Since(begun))
		}
		p50s = append(p50s, micros(percentile(took, 50))/1000)
	}
	v.add(fmt.Sprintf("vault: p50 of an append to a document of %d blocks", longDocument), milliseconds, p50s, atMost(50))
	_, err = a.ask(ctx, "/api/filetree/removeDocByID", map[string]any{"id": made.Str})
	return err
}

// append returns the body of the next appendBlock request.
func (v *vaultCase) append() map[string]any {
	return map[string]any{"dataType": "markdown", "data": v.text(), "parentID": v.doc()}
}

func (v *vaultCase) text() string {
	v.appended++
	return fmt.Sprintf("appended%d a paragraph that somebody wrote, 再来一段文字", v.appended)
}

// doc returns the document for the next append: as many different ones as there are appends in a round, from
// all over the vault.
func (v *vaultCase) doc() string { return v.docs[v.appended%v.plan.vaultAppends*37%len(v.docs)] }

// search measures the queries, one after the other.
func (v *vaultCase) search(ctx context.Context, a asker) error {
	var all []float64
	of := make([][]float64, len(vaultQueries))
	for range v.plan.rounds {
		var mixed []time.Duration
		took := make([][]time.Duration, len(vaultQueries))
		for range v.plan.vaultQueries {
			for i, q := range vaultQueries {
				begun := time.Now()
				if _, err := a.ask(ctx, "/api/search/fullTextSearchBlock", map[string]any{"query": q.text}); err != nil {
					return err
				}
				d := time.Since(begun)
				took[i], mixed = append(took[i], d), append(mixed, d)
			}
		}
		all = append(all, micros(percentile(mixed, 50))/1000)
		for i := range took {
			of[i] = append(of[i], micros(percentile(took[i], 50))/1000)
		}
	}
	v.add("vault: p50 of full text queries, a mix", milliseconds, all, atMost(20))
	for i, q := range vaultQueries {
		v.add("vault: p50 of a full text query, "+q.name, milliseconds, of[i], atMost(20))
	}
	return nil
}

// trees measures the tree of all documents: in one request, and in the requests that fs.tree and
// document.list_tree make.
func (v *vaultCase) trees(ctx context.Context, a asker) error {
	var whole, levels []float64
	for range v.plan.rounds {
		begun := time.Now()
		got, err := a.ask(ctx, "/api/filetree/listDocTree", map[string]any{"notebook": v.box, "path": "/" + v.docs[0]})
		if err != nil {
			return err
		}
		whole = append(whole, micros(time.Since(begun))/1000)
		if n := bytes.Count([]byte(got.Raw), []byte(`"id"`)); n != len(v.docs)-1 {
			return fmt.Errorf("listDocTree shows %d documents, there are %d below the first", n, len(v.docs)-1)
		}
		begun = time.Now()
		n, err := v.descend(ctx, a, "/")
		if err != nil {
			return err
		}
		levels = append(levels, micros(time.Since(begun))/1000)
		if n != len(v.docs) {
			return fmt.Errorf("listDocsByPath shows %d documents of %d", n, len(v.docs))
		}
	}
	of := fmt.Sprintf(" of %d documents", len(v.docs))
	v.add("vault: the tree"+of+", in one request", milliseconds, whole, atMost(50))
	v.add("vault: the tree"+of+", level by level", milliseconds, levels, atMost(50))
	return nil
}

// descend lists everything below a path and returns the number of documents.
func (v *vaultCase) descend(ctx context.Context, a asker, path string) (int, error) {
	got, err := a.ask(ctx, "/api/filetree/listDocsByPath", map[string]any{"notebook": v.box, "path": path, "maxListCount": 0})
	if err != nil {
		return 0, err
	}
	count := 0
	for _, f := range got.Get("files").Array() {
		count++
		if f.Get("subFileCount").Int() == 0 {
			continue
		}
		n, err := v.descend(ctx, a, f.Get("path").String())
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// writers measures many concurrent appends, each to a document of its own, and checks that everything is
// there afterwards.
func (v *vaultCase) writers(ctx context.Context, a asker) error {
	const atOnce = 50
	var mu sync.Mutex
	var took []time.Duration
	var ids []string
	errs := make(chan error, atOnce)
	begun := time.Now()
	for n := range atOnce {
		go func() {
			errs <- func() error {
				for i := range v.plan.vaultWrites {
					start := time.Now()
					got, err := a.ask(ctx, "/api/block/appendBlock", map[string]any{
						"dataType": "markdown", "data": fmt.Sprintf("written%dx%d 同时写入", n, i), "parentID": v.docs[n%len(v.docs)],
					})
					if err != nil {
						return err
					}
					mu.Lock()
					took, ids = append(took, time.Since(start)), append(ids, got.Get("0.doOperations.0.id").String())
					mu.Unlock()
				}
				return nil
			}()
		}()
	}
	for range atOnce {
		if err := <-errs; err != nil {
			return err
		}
	}
	elapsed := time.Since(begun)
	rows, err := a.ask(ctx, "/api/query/sql", map[string]any{
		"stmt": "SELECT count(*) AS n FROM blocks WHERE id IN (SELECT value FROM json_each('" + mustJSON(ids) + "'))",
	})
	if err != nil {
		return err
	}
	if n := rows.Get("0.n").Int(); int(n) != len(ids) || len(ids) != atOnce*v.plan.vaultWrites {
		return fmt.Errorf("%d appends of %d writers are there, %d were acknowledged", n, atOnce, len(ids))
	}
	v.add(fmt.Sprintf("vault: appends of %d writers at once", atOnce), perSecond, []float64{float64(len(ids)) / elapsed.Seconds()}, bound{})
	v.add(fmt.Sprintf("vault: the slowest of %d appends of these", len(ids)), milliseconds, []float64{micros(slices.Max(took)) / 1000}, bound{})
	return nil
}

// sound runs the checker over the vault.
func (v *vaultCase) sound(ctx context.Context, notes *vault.Vault) error {
	w, err := notes.Workspace(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	problems, err := w.Check(ctx, nil)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("the checker finds %d problems, the first: %v", len(problems), problems[0])
	}
	v.add("vault: the checker", seconds, []float64{time.Since(begun).Seconds()}, bound{})
	return nil
}

// asker sends requests to a vault in this process, as the tools do.
type asker struct{ vault http.Handler }

// ask returns the data of an answer with code 0.
func (a asker) ask(ctx context.Context, endpoint string, body any) (gjson.Result, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://vault"+endpoint, bytes.NewReader([]byte(mustJSON(body))))
	if err != nil {
		return gjson.Result{}, err
	}
	resp, err := vault.Transport{Vault: a.vault}.RoundTrip(req)
	if err != nil {
		return gjson.Result{}, err
	}
	answer, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); err == nil {
		err = cerr
	}
	if err == nil && (resp.StatusCode != http.StatusOK || gjson.GetBytes(answer, "code").Int() != 0) {
		err = fmt.Errorf("%s: status %d: %.300s", endpoint, resp.StatusCode, answer)
	}
	return gjson.GetBytes(answer, "data"), err
}

// mustJSON encodes texts, numbers and flags.
func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// openFloor creates a SQLite file with the settings of a vault and a table of texts, as a baseline.
func openFloor(path string) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	for _, statement := range []string{
		"PRAGMA synchronous = NORMAL", "PRAGMA cache_size = -2000", "PRAGMA temp_store = MEMORY", "PRAGMA journal_mode = WAL",
		"CREATE TABLE line (n INTEGER PRIMARY KEY, text TEXT NOT NULL)",
	} {
		if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
			return nil, err
		}
	}
	return conn, nil
}

// insert inserts a row in a transaction of its own.
func insert(conn *sqlite.Conn, n int, text string) (err error) {
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return err
	}
	defer end(&err)
	return sqlitex.Execute(conn, "INSERT INTO line (n, text) VALUES (?, ?)", &sqlitex.ExecOptions{Args: []any{n, text}})
}
