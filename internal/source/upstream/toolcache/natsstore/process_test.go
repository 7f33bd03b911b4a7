package natsstore_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"collie/internal/source/upstream/toolcache"
)

// writerAddress names the NATS server to the child that tests start.
const writerAddress = "COLLIE_TEST_NATS_WRITER"

// servers is the number of servers that each gateway here has.
const servers = 10

// newWants returns these servers as lookups ask for them.
func newWants() []toolcache.Want {
	list := make([]toolcache.Want, servers)
	for i := range list {
		list[i] = toolcache.Want{Name: fmt.Sprintf("s%d", i), Hash: fmt.Sprintf("%064x", i), MaxAge: time.Hour, MaxStale: time.Hour}
	}
	return list
}

// openGateway returns a cache in memory that shares through the NATS server at where.
func openGateway(t *testing.T, where string) *toolcache.Cache {
	t.Helper()
	c := toolcache.Open(t.Context(), toolcache.Options{Key: bytes.Repeat([]byte{7}, 32), Shared: openStore(t, where)})
	t.Cleanup(func() { _ = c.Close() })
	c.Configured(newWants())
	t.Cleanup(c.Watch(func(string) {}))
	return c
}

// storeLists stores a list of n tools for each server, as if the servers had told it.
func storeLists(c *toolcache.Cache, n int) {
	for _, w := range newWants() {
		e := &toolcache.Entry{ConfigHash: w.Hash}
		for i := range n {
			e.Tools = append(e.Tools, json.RawMessage(fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{}}`, i, strings.Repeat("列车", 50))))
		}
		c.Store(w.Name, e)
	}
}

// countKnownTools returns how many tools a gateway knows of each server; -1 if the numbers differ, as they may while
// somebody writes.
func countKnownTools(c *toolcache.Cache) (n int) {
	for i, w := range newWants() {
		e, _, _ := c.Lookup(w)
		switch {
		case i == 0 && e != nil:
			n = len(e.Tools)
		case e == nil && n > 0, e != nil && len(e.Tools) != n:
			return -1
		}
	}
	return n
}

// TestWriterChild stores longer and longer lists until it is killed.
func TestWriterChild(t *testing.T) {
	t.Parallel()
	where := os.Getenv(writerAddress)
	if where == "" {
		return // it is the child of the test below
	}
	place := openStore(t, where)
	before, told := mustLoad(t, place), false
	c := openGateway(t, where)
	for n := countKnownTools(c) + 1; ; n++ {
		storeLists(c, max(n, 1))
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if told {
			continue
		}
		// A gateway goes on without a place that does not answer at once, and tries it again later.
		eventually(t, "all of it is there", func() bool {
			if err := c.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			now, fresh := mustLoad(t, place), 0
			for name, raw := range now.Entries {
				if !bytes.Equal(raw, before.Entries[name]) {
					fresh++
				}
			}
			return fresh == servers
		})
		told = true
		fmt.Println("told")
	}
}

// A process that shares is killed repeatedly. Another process finds every entry valid, takes entries over while the
// first writes, and has its own lists taken over.
func TestProcessesConverge(t *testing.T) {
	t.Parallel()
	srv := startServer(t, server.Options{})
	where := srv.ClientURL()
	c := openGateway(t, where)
	for round := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriterChild$", "-test.count=1")
		cmd.Env = append(os.Environ(), writerAddress+"="+where)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() && lines.Text() != "told" {
		}
		kill := time.AfterFunc(time.Duration(rand.Intn(20_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for lines.Scan() {
		}
		kill.Stop()
		_ = cmd.Wait() // it was killed
		kept := mustLoad(t, openStore(t, where))
		if len(kept.Entries) != servers {
			t.Fatalf("round %d: %d entries are kept, want %d", round, len(kept.Entries), servers)
		}
		eventually(t, "what the other has told is taken over", func() bool { return countKnownTools(c) != 0 })
		if st := c.Stats(); st.Shared.Dropped != 0 {
			t.Fatalf("round %d: %d entries are not whole", round, st.Shared.Dropped)
		}
	}
	other := openGateway(t, where)
	const many = 200 // more than a child gets to
	storeLists(c, many)
	eventually(t, "both know the same", func() bool {
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		return countKnownTools(c) == many && countKnownTools(other) == many
	})
}
